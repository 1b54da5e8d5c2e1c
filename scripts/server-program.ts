/** The file that starts the server: the bundle, or its source where HEDDLE_FROM_SOURCE is set. */

import { resolve } from 'node:path'

/** Path of the program. Bundles are made by `scripts/bundle.mjs`, which every npm script calls. */
export const serverProgram = resolve(import.meta.dirname, '..',
  process.env['HEDDLE_FROM_SOURCE'] ? 'src/main.ts' : 'dist/heddle/main.js')
