/** Cases of the day that cost more than others may, each with its reason. */

const largeAnswers = 'makes an answer of many megabytes'
const search = 'searches for a time'
const judged = 'waits until a trace counts as complete'
const tables = 'makes tables of its own in Cassandra'

/** By file and by title. */
export const listedCases: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'test/conformance/isolation.test.ts': {
    'the server answers at once, and its cancel ends it: its thread works again':
      'waits until a worker counts as hung',
  },
  'test/conformance/platform/isolation.test.ts': {
    'another tenant gets nothing, and changes nothing': 'walks over all routes',
  },
  'test/conformance/platform/models.test.ts': {
    'are in nothing that the server wrote or answered': 'reads all that a server has written',
  },
  'test/conformance/platform/rules.test.ts': {
    'A graph judges what ends, and its own trace can be read': judged,
  },
  'test/contract/cassandra-schema.test.ts': {
    'are created by one of several members that start at once': tables,
  },
  'test/contract/cassandra-span-queries.test.ts': {
    'Random filters find what a look at every span finds.': search,
  },
  'test/contract/deployments.test.ts': {
    'are what was stored, until they are removed': 'two lives of a store, with a chunk of 4 MiB',
  },
  'test/e2e/burst.test.ts': {
    'One run beside 60 in the background waits for a few of their nodes': 'sixty runs that compute',
  },
  'test/e2e/fuzz.test.ts': {
    'answers or refuses 150 requests of any shape, seed 841459149': search,
  },
  'test/simulation/waiting/waiting-world.test.ts': {
    'shows the wait that the log has in 60 random histories': search,
    'break a promise: head_rest': search,
    'break a promise: owned_work': search,
  },
  'test/simulation/effects/thread-world.test.ts': {
    'does each effect once in 50 random sequences on one thread': search,
  },
  'test/simulation/simulation.test.ts': {
    'loses, repeats and contradicts nothing in many worlds full of faults': search,
    'loses and brings back no item in worlds full of faults': search,
    'loses and brings back no record in worlds full of faults': search,
    'fires crons once for each due time in worlds full of faults': search,
    'breaks a promise: purged_first': search,
  },
  'test/unit/assistants/assistant.test.ts': {
    'are refused if they are too large for one answer': largeAnswers,
  },
  'test/unit/cluster/transport/follow-grpc.test.ts': {
    'that is not read ends as lagged, while others continue': 'sends until a reader lags',
  },
  'test/unit/deployment/rollout/rollout-simulation.test.ts': {
    'keep the rules whatever fails, and end': 'simulates roll-outs by seed',
  },
  'test/unit/egress/egress.test.ts': {
    'to one host do not fill the whole queue': 'fills the queue of the way out',
  },
  'test/unit/frontdoor/http/long-lists.test.ts': {
    'is the same over HTTP/2, and as one message of the typed API': largeAnswers,
  },
  'test/unit/thread/actor/far-thread.test.ts': {
    'has its history read in parts, and as a whole from an earlier member': largeAnswers,
  },
}
