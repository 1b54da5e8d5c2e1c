#!/usr/bin/env node
// The command `heddle`, run directly with any version of Node: heddle.mjs [option…]
import { join } from 'node:path'

import { root } from './node24.mjs'

process.argv.splice(2, 0, join(root, 'src/main.ts'))
await import('./run.mjs')
