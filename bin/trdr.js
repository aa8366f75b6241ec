#!/usr/bin/env node
'use strict';

// Without a listener, SIGUSR1 opens a debugger port on a process that holds an API key.
process.on('SIGUSR1', () => {});

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 18)) {
  process.stderr.write(`trdr needs Node 20.18 or newer; this is ${process.versions.node}.\n`);
  process.exitCode = 1;
} else {
  require('../dist/main.cjs').start();
}
