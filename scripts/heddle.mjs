#!/usr/bin/env node
// The command `heddle`, run directly with any version of Node: heddle.mjs [option…]
import { join } from 'node:path'

import { root } from './node24.mjs'

process.argv.splice(2, 0, join(root, 'dist/heddle/main.js'))
await import('./run.mjs')
