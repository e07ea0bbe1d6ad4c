"""Steps of a plan before its last stage: each draws something, and what it released tells what comes next. One file a kind."""
