/**
 * How the tests run: the suite and the units, a published contract suite that wants globals, the
 * long suite, the conformance tests once more on Cassandra and with the newest packages, and a
 * cluster at length.
 */

import { resolve } from 'node:path'

import { defineConfig } from 'vitest/config'

import { v8Flags } from './src/settings/v8-flags.ts'
import { CostReporter } from './test/support/budget/cost-reporter.ts'
import { isNight } from './test/support/repeats.ts'

/**
 * Conformance tests that speak of what the engine, the client and the store do: they run once more
 * on Cassandra, and with the newest packages. By night all of them do.
 */
const ecosystem = ['assistants', 'cancel', 'crons', 'history', 'interrupts', 'multitask', 'runs',
  'state', 'streaming', 'subgraphs', 'supersteps', 'threads', ...isNight
  ? ['expiry', 'forms', 'graph-store', 'join', 'lifecycle', 'many-runs', 'protocol-v2',
    'protocol-v2-hook', 'search', 'sse', 'stateless', 'storage', 'store', 'stream-end',
    'strict-resume']
  : []].map((name) => `test/conformance/${name}.test.ts`)

/** Tests of the platform. Nightly only: by day, the contracts of the stores test what differs. */
const platform = isNight ? ['test/conformance/platform/*.test.ts'] : []

/**
 * Tests of what a server answers. They share one, and run one after another in the same process:
 * to begin a process and to load the client anew takes longer than most of these files.
 */
const conformance = 'test/conformance/**/*.test.ts'
const validation = 'test/**/*.validation.test.ts'
const cluster = ['test/e2e/cluster/*.long.ts', ...isNight ? ['test/e2e/cluster/*.night.ts'] : []]
const browser = 'test/browser/*.long.ts'
const tracing = 'test/tracing/*.long.ts'
/** The web page in a real browser. */
const studio = 'test/studio/*.test.ts'
/** Packages that are installed for tests have tests of their own. */
const packages = '**/node_modules/**'
/**
 * Tests of units run one file after another in the same process: loading the modules anew for each
 * file takes longer than the tests of most. Those of workers, of calls and of tracing change their
 * process, and the large project a module of it: they have it to themselves.
 */
const units = 'test/unit/**/*.test.ts'
const ownProcess = ['test/unit/graph/pool/*.test.ts', 'test/unit/server/tracing*.test.ts',
  'test/unit/graph/calls/{doors,open-calls}.test.ts',
  'test/unit/graph/project/large-project.test.ts']

/**
 * Threads and processes that tests start find their modules compiled, as those of a server do: else
 * each takes longer to begin than most tests of it.
 */
const compiled = { NODE_COMPILE_CACHE: resolve('node_modules/.cache/compiled') }

/**
 * One node serves all but the parts of a night that ask for more, and the files that start their
 * own: each start takes long.
 */
const cassandraNodes = { cassandraNodes: Number(process.env['HEDDLE_TEST_CASSANDRA_NODES'] ?? 1) }

/** Measures the cases of the day, and fails those that cost too much, unless that is not asked. */
const budget = isNight || process.env['HEDDLE_TEST_BUDGET'] === 'off'
  ? []
  : ['test/support/budget/case-cost.ts']

export default defineConfig({
  test: {
    reporters: ['default', 'json', new CostReporter()],
    outputFile: { json: process.env['HEDDLE_TEST_REPORT'] ?? 'test-report.json' },
    pool: 'forks',
    // Stores and graphs of tests run in threads as well.
    execArgv: [...v8Flags],
    maxWorkers: 2,
    globalSetup: ['bundle-setup', 'cassandra-setup', 'shared-server-setup'].map((name) =>
      `test/support/${name}.ts`
    ),
    provide: { cassandraNodes: 1 },
    // Only what hangs takes so long: a server that starts in a second needs ten on a machine that
    // has other things to do, and some tests start it five times.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // A pause of this process makes both timers of a poll due at once: where the pause is longer
    // than the poll may take, which is a second by default, there is no last look.
    expect: { poll: { timeout: 60_000 } },
    // A report that names a failure without what was found helps nobody.
    chaiConfig: { truncateThreshold: 2_000 },
    projects: [
      {
        extends: true,
        test: {
          name: 'suite',
          setupFiles: budget,
          include: ['test/!(unit)/**/*.test.ts', 'test/*.test.ts', ...ownProcess],
          exclude: [conformance, validation, studio, packages],
          env: compiled,
        },
      },
      {
        extends: true,
        test: {
          name: 'conformance',
          setupFiles: [...budget, 'test/support/answer-check.ts'],
          include: [conformance],
          exclude: [packages],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'unit',
          setupFiles: budget,
          include: [units],
          exclude: [...ownProcess, validation, packages],
          isolate: false,
          env: compiled,
        },
      },
      {
        extends: true,
        test: { name: 'validation', include: [validation], globals: true },
      },
      {
        extends: true,
        test: {
          name: 'long',
          include: ['test/**/*.long.ts', ...isNight ? ['test/**/*.night.ts'] : []],
          exclude: [...cluster, browser, tracing, packages],
          testTimeout: 1_800_000,
          provide: cassandraNodes,
        },
      },
      {
        extends: true,
        test: {
          name: 'studio',
          include: [studio],
          globalSetup: 'test/studio/support/setup.ts',
          // Its files share browsers.
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: 'cluster', include: cluster, testTimeout: 1_800_000 },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: [browser],
          globalSetup: 'test/browser/page-server.ts',
        },
      },
      {
        extends: true,
        test: { name: 'tracing', include: [tracing], globalSetup: 'test/tracing/setup.ts' },
      },
      {
        extends: true,
        test: {
          name: 'cassandra',
          // The others test what stands before every store.
          include: isNight
            ? ['test/conformance/*.test.ts', ...platform]
            : [...ecosystem, 'test/conformance/versions.test.ts'],
          isolate: false,
          provide: cassandraNodes,
          env: { HEDDLE_TEST_STORE: 'cassandra' },
        },
      },
      {
        extends: true,
        test: {
          name: 'newest',
          include: [...ecosystem, 'test/conformance/{every-method,schemas}.test.ts',
            'test/conformance/platform/deep-traces.test.ts', 'test/newest/*.newest.ts'],
          globalSetup: 'test/support/newest-packages.ts',
          isolate: false,
          alias: {
            '@langchain/langgraph-sdk/stream': resolve(
              'test/newest/node_modules/@langchain/langgraph-sdk/dist/stream/index.js',
            ),
            '@langchain/langgraph-sdk': resolve(
              'test/newest/node_modules/@langchain/langgraph-sdk',
            ),
          },
          env: { HEDDLE_TEST_ENGINE: 'newest' },
        },
      },
    ],
  },
})
