/**
 * How the tests run: the suite, a published contract suite that wants globals, the long suite, and
 * the conformance tests once more on Cassandra.
 */

import { defineConfig } from 'vitest/config'

const validation = 'test/**/*.validation.test.ts'

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    globalSetup: 'test/support/cassandra-setup.ts',
    provide: { cassandraNodes: 1 },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: { name: 'suite', include: ['test/**/*.test.ts'], exclude: [validation] },
      },
      {
        extends: true,
        test: { name: 'validation', include: [validation], globals: true },
      },
      {
        extends: true,
        test: {
          name: 'long',
          include: ['test/**/*.long.ts'],
          testTimeout: 1_800_000,
          provide: { cassandraNodes: 3 },
        },
      },
      {
        extends: true,
        test: {
          name: 'cassandra',
          include: ['test/conformance/*.test.ts'],
          hookTimeout: 120_000,
          provide: { cassandraNodes: 3 },
          env: { HEDDLE_TEST_STORE: 'cassandra' },
        },
      },
    ],
  },
})
