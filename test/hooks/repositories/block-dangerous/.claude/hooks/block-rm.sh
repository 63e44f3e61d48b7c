#!/bin/sh
# Exit code 2 blocks the call; the model reads what stands on stderr.
if grep -Eq '"command" *: *"[^"]*rm +-[a-z]*r[a-z]*f?'; then
  echo "Blocked: rm -rf is not allowed here. Move files to the trash folder instead." >&2
  exit 2
fi
exit 0
