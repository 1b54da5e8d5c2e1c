/** How the API suite and the streaming suite run against a server that HEDDLE_URL names. */

import { fileURLToPath } from 'node:url'

import { defineConfig } from 'vitest/config'

const embed = fileURLToPath(new URL('embed.mjs', import.meta.url))

export default defineConfig({
  // The streaming suite makes a server inside its own process: here that server passes on to ours.
  resolve: { alias: [{ find: /^.*\/src\/experimental\/embed\.mjs$/, replacement: embed }] },
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    fileParallelism: false,
    setupFiles: ['./truncate.mjs'],
  },
})
