# Licensed under the Apache License, Version 2.0; see the file LICENSE.
#
# What the tools have in common. A tool sets "tool" to its name and sources this file.

die() {
    echo "tools/$tool: $1" >&2
    exit 2
}

wrong() {
    die "$1; see tools/$tool --help"
}

# The path as seen from the caller's directory; the tools change to another one.
absolute() {
    case "$1" in
        /*) echo "$1" ;;
        *) echo "$PWD/$1" ;;
    esac
}

# Sets java, which is JDK 17 or newer.
find_java() {
    local major
    java="${JAVA_HOME:+$JAVA_HOME/bin/}java"
    command -v "$java" > /dev/null \
        || die "no '$java' found: install JDK 17 or newer, and let JAVA_HOME or PATH lead to it"
    major=$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\)[."].*/\1/p' | head -n 1)
    [ "${major:-0}" -ge 17 ] \
        || die "'$java' is Java ${major:-of an unknown version}, JDK 17 or newer is needed: let JAVA_HOME lead to one"
}

require_maven() {
    command -v mvn > /dev/null \
        || die "no 'mvn' found, and the build is missing: install Maven 3.8 or newer"
}

# The value of a property in pom.xml; called in the root of the project.
property() {
    sed -n "s:.*<$1>\(.*\)</$1>.*:\1:p" pom.xml
}

# True if the sources have changed since the file $1, the stamp of a build, was written.
changed_since() {
    [ -n "$(find . -path '*/target' -prune -o -path ./.git -prune -o \
        \( -name '*.java' -o -name pom.xml -o -path '*/src/main/*' \) -type f -newer "$1" -print \
        | head -n 1)" ]
}
