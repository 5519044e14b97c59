#!/bin/sh
# A shell script that starts two helpers, plays well, and leaves them behind.
#
# Imitates: the wrapper script around a bot: `server & bot`. It is no fault: a control.
# Faults: none; it plays well.
# Referee: ends the helpers together with the script, though they hold its pipes and one has its own session.

sleep 3600 &
setsid sleep 3600 &
while IFS= read -r line; do
    case $line in
    '{"type":"hello"'*)
        echo '{"type":"hello","protocol":1}'
        ;;
    '{"type":"ask"'*)
        id=${line#*\"id\":}
        legal=${line#*\"legal\":[}
        legal=${legal%%]*}
        echo "{\"type\":\"act\",\"id\":${id%%,*},\"action\":${legal##*,}}"
        ;;
    esac
done
