#!/bin/sh
# The sops of a campaign: the real one (REAL_SOPS), which says in the log what it does and now and then dies over it.
# CAMPAIGN_SPOIL tells how. What it has done it says afterwards: who is killed in between has at worst not said it.
case $1 in set) ;; *) exec "$REAL_SOPS" "$@" ;; esac
file=$2
say() {
    read -r up _ </proc/uptime
    echo "${up%.*}${up#*.}0000000 $1 $CAMPAIGN_WHO ${LOCKED_RESOURCES:--} ${LOCKED_TOKENS:--} ${2:--}" >>"$CAMPAIGN_LOG"
}
say begin
case ${CAMPAIGN_SPOIL-} in
half)
    half=$(head -c 150 "$file")
    printf %s "$half" >"$file"
    say spoil half
    kill -9 $$
    ;;
lose)
    whole=$(cat "$file")
    "$REAL_SOPS" "$@" && say wrote "$CAMPAIGN_KEY"
    printf '%s\n' "$whole" >"$file"
    say end
    exit 0
    ;;
esac
"$REAL_SOPS" "$@"
status=$?
if [ "$status" = 0 ]; then
    case ${CAMPAIGN_SPOIL-} in
    corrupt) printf XXXXXX | dd of="$file" bs=1 seek=24 conv=notrunc 2>/dev/null && say spoil corrupt ;;
    revoke)
        "$REAL_SOPS" rotate --in-place --add-age "$CAMPAIGN_OTHER" --rm-age "$CAMPAIGN_OURS" "$file" && say spoil revoke
        ;;
    *)
        say wrote "$CAMPAIGN_KEY"
        sleep 0.05
        say end
        ;;
    esac
fi
exit "$status"
