# What the run scripts of the examples have in common; they source it. Makes a temporary folder, $temp, which goes when the script ends,
# and counts in $unexpected what did not come out as expected.

# The runs are to show what klock does of itself, not what the caller's shell tells it or the JVM.
for name in $(compgen -v KLOCK_); do unset "$name"; done
unset JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS

temp=$(mktemp -d "${TMPDIR:-/tmp}/klock-example-XXXXXXXX")
temp=$(cd "$temp" && pwd -P)
trap 'rm -rf "$temp"' EXIT
trap 'exit 130' INT TERM
export XDG_CACHE_HOME=$temp/cache

unexpected=0
status=0
workspace=

heading() {
    printf '\n== %s\n' "$1"
}

ok() {
    printf 'ok: %s\n' "$1"
}

wrong() {
    printf 'NOT AS EXPECTED: %s\n' "$1"
    unexpected=$((unexpected + 1))
}

# Of the last command, which has set status.
expect_exit() {
    if [ "$status" -eq "$1" ]; then ok "exit code $status"; else wrong "exit code $status instead of $1"; fi
}

expect_line() {
    if grep -q -- "$1" "$2"; then ok "$3"; else wrong "no line says: $1"; fi
}

# A folder of the workspace is as it was in $temp/fresh.
expect_unchanged() {
    if diff -r "$temp/fresh/$1" "$workspace/$1" > /dev/null; then ok "$1: unchanged"; else wrong "$1: changed"; fi
}

# How many of the lines "- AGENT 1: ..." to "- AGENT COUNT: ..." are in a file, each of them once.
present() {
    awk -v agent="$2" -v count="$3" '
        $1 == "-" && $2 == agent && $3 ~ /^[0-9]+:$/ { n = $3 + 0; if (n >= 1 && n <= count && !seen[n]++) found++ }
        END { print found + 0 }
    ' "$1"
}

# How many lines are missing from the reports of a workspace, where each agent had COUNT of them in each: missing COUNT REPORT... -- AGENT...
missing() {
    local count=$1 reports=() report agent lost=0
    shift
    while [ "$1" != -- ]; do reports+=("$1"); shift; done
    shift
    for report in "${reports[@]}"; do
        for agent in "$@"; do
            lost=$((lost + count - $(present "$workspace/report/$report.md" "$agent" "$count")))
        done
    done
    echo "$lost"
}

# The file of the workspace has its first line, for each AGENT=COUNT the lines 1 to COUNT of that agent, each once and in order, and
# nothing else.
expect_lines() {
    local file=$1 wanted=1 missing="" pair agent count numbers
    shift
    for pair in "$@"; do
        agent=${pair%=*}
        count=${pair#*=}
        wanted=$((wanted + count))
        numbers=$(awk -v agent="$agent" '$1 == "-" && $2 == agent { print $3 }' "$workspace/$file")
        [ "$numbers" = "$(seq -f '%.0f:' "$count")" ] || missing="$missing; of $agent $(present "$workspace/$file" "$agent" "$count") of $count"
    done
    if [ -n "$missing" ] || [ "$(wc -l < "$workspace/$file")" -ne "$wanted" ] \
        || [ "$(head -n 1 "$workspace/$file")" != "$(head -n 1 "$temp/fresh/$file")" ]; then
        wrong "$file: $(wc -l < "$workspace/$file") lines instead of $wanted$missing"
    else
        ok "$file: $* lines, each once, in order, and no other"
    fi
}

# The last line of an example, and its exit code.
finish() {
    echo
    if [ "$unexpected" -eq 0 ]; then
        echo "Example $1: everything came out as expected."
    else
        echo "Example $1: $unexpected of the results above are not as expected."
        exit 1
    fi
}
