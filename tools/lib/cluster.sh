# Licensed under the Apache License, Version 2.0; see the file LICENSE.
#
# Builds the distribution and a real cluster for the tools that start one, after common.sh.

module=paimon-flink/paimon-flink-cluster-tests

# The modules as Maven gets to them, and the head of what went wrong.
progress() {
    local errors=0 line
    while IFS= read -r line; do
        case "$line" in
            "[INFO] Building "*"["*) echo "  ${line#"[INFO] "}" ;;
            "[ERROR]"*)
                errors=$((errors + 1))
                [ "$errors" -gt 5 ] || echo "$line"
                ;;
        esac
    done
}

build_cluster() {
    local log=$module/target/$tool-build.log started=$SECONDS
    require_maven
    "${java%java}javac" -version > /dev/null 2>&1 \
        || die "'$java' has no compiler beside it: a JDK is needed, not a JRE"
    mkdir -p "$module/target"
    echo "Building the distribution and the cluster (the first time, Maven fetches about 500 MB); log: $log"
    if ! mvn -B -ntp package -DskipTests -Dspotless.check.skip=true -pl "$module" -am \
        | tee "$log" | progress; then
        echo "tools/$tool: the build failed; see $root/$log" >&2
        exit 1
    fi
    touch "$stamp"
    echo "Built in $((SECONDS - started)) s"
    echo
}

# Sets built, the distribution's jar, and stamp, and builds what is missing; called in the root of
# the project with the options of the tool. With --json, standard output is for the verdict alone.
build_if_stale() {
    built=paimon-flink/paimon-flink-2.0/target/paimon-flink-2.0-$(property revision).jar
    stamp=$module/target/$tool-build
    if [ -f "$built" ] && [ -f "$stamp" ] && [ -d "$module/target/cluster/lib" ] \
        && ! changed_since "$stamp"; then
        return 0
    fi
    case " $* " in
        *" --json "*) build_cluster >&2 ;;
        *) build_cluster ;;
    esac
}

# Sets jar, the distribution's when none was given, and dir, a new one when none was given.
use_defaults() {
    if [ -z "$jar" ]; then
        jar=$built
        [ -f "$jar" ] || die "the build did not produce $jar"
    fi
    if [ -z "$dir" ]; then
        dir=$module/target/$tool/$(date +%Y%m%d-%H%M%S)
    fi
    mkdir -p "$dir"
}

# Refuses a directory of the user's that holds something.
require_empty() {
    if [ -n "$1" ] && [ -e "$1" ] && [ -n "$(ls -A "$1" 2>&1)" ]; then
        wrong "option --dir: '$1' is not empty"
    fi
}
