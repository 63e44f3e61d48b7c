#!/bin/sh
# Sends the agent back to work until the tests pass.
if ! output=$(node check.mjs 2>&1); then
  echo '{"decision": "block", "reason": "The tests fail. Fix them before you stop.", "systemMessage": "tests are red"}'
fi
