/**
 * Whatever is sent to a server, it answers or refuses it, leaks no memory, and keeps serving.
 *
 * HEDDLE_FUZZ_REQUESTS sets how many requests, HEDDLE_FUZZ_SEED which ones.
 */

import { randomInt, randomUUID } from 'node:crypto'

import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { memoryOf, probedEnv } from '../bench/idle-actors.ts'
import { fuzzRequests } from '../support/fuzz-requests.ts'
import type { FuzzRequest, Terrain } from '../support/fuzz-requests.ts'
import { FuzzSender } from '../support/fuzz-sender.ts'
import type { Fate } from '../support/fuzz-sender.ts'
import { isNight, repeats } from '../support/repeats.ts'
import { say } from '../support/run-events.ts'
import { oneWorker, startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { clientOf } from '../support/server.ts'

const requests = Number(
  process.env['HEDDLE_FUZZ_REQUESTS'] ?? repeats({ day: 150, night: 2_000 }),
)
const seed = Number(process.env['HEDDLE_FUZZ_SEED'] ?? (isNight ? randomInt(2 ** 31) : 841_459_149))
const atOnce = 16
/** Requests made together from one seed. */
const batch = Math.min(500, requests)
const msEach = 60
const mebibyte = 1024 * 1024
/** New threads stay in memory for a while; a leaked request would be some kilobytes. */
const growthMax = 12 * mebibyte + requests / 2 * 200

let server: ServerProcess

beforeAll(async () => {
  server = await startServer({ project: 'conformance', env: probedEnv,
    args: [...oneWorker, '--log-level', 'warn'] })
})
afterAll(() => server.close())

it(`answers or refuses ${requests} requests of any shape, seed ${seed}`, async () => {
  const terrain = await terrainOf(server.url)
  const batches = Math.ceil(requests / batch)
  let halfway: NodeJS.MemoryUsage | undefined
  for (let number = 0; number < batches; number++) {
    if (number === Math.floor(batches / 2)) halfway = await memoryOf(server)
    await sendBatch(fuzzRequests(terrain), seed + number)
  }
  const after = await memoryOf(server)
  expect(after.heapUsed + after.external - halfway!.heapUsed - halfway!.external)
    .toBeLessThan(growthMax)
  await servesOn(terrain)
  // Connect also logs a client that disconnected while it was answered: that is no fault.
  const seen = server.output().replaceAll(/handler for rpc .* failed .* write ECANCELED/g, '')
  expect(seen).not.toMatch(/nobody foresaw|assertion failed|handler for rpc|died/)
}, 60_000 + requests * msEach)

async function sendBatch(kinds: fc.Arbitrary<FuzzRequest>, batchSeed: number): Promise<void> {
  const next = fc.sample(kinds, { seed: batchSeed, numRuns: batch }).entries()
  const sender = new FuzzSender(server.url)
  try {
    await Promise.all(Array.from({ length: atOnce }, async () => {
      for (const [index, request] of next) {
        const fate = await sender.send(request)
        const wrong = wrongIn(fate, request)
        if (wrong !== undefined) {
          expect.fail(`seed ${batchSeed}, request ${index}: ${wrong}\n${shown(request)}`)
        }
      }
    }))
  } finally {
    sender.close()
  }
}

/** What is wrong with the answer; undefined if nothing is. */
function wrongIn(fate: Fate, request: FuzzRequest): string | undefined {
  if (fate.kind === 'hung') return 'it hangs'
  if (fate.kind === 'refused') {
    const mayBe = request.wire !== 'http1' || request.calledOff
    return mayBe ? undefined : 'it was not answered'
  }
  // In gRPC 2 and 13 correspond to 500.
  if (fate.grpc === '2' || fate.grpc === '13') return `gRPC status ${fate.grpc}`
  const typed = 'path' in request && request.path.startsWith('/frontdoor.')
  // Connect answers 501 for what is not offered, such as a compression.
  if (fate.status === 503 || (typed && fate.status === 501)) return undefined
  // And 504 for a call that is past its own deadline.
  const timed = typed && request.headers.some(([name]) => name === 'connect-timeout-ms')
  if (timed && fate.status === 504) return undefined
  return fate.status >= 500 ? `status ${fate.status}` : undefined
}

function shown(request: FuzzRequest): string {
  const bytes = request.wire === 'bytes' ? request.bytes : request.body
  return `${JSON.stringify({ ...request, bytes: undefined, body: undefined })}\n` +
    `${JSON.stringify(Buffer.from(bytes).toString('latin1').slice(0, 2_000))}`
}

/** Existing threads and runs, and all routes. */
async function terrainOf(url: string): Promise<Terrain> {
  const client = clientOf(url)
  const threads = await Promise.all(Array.from({ length: 8 }, () => client.threads.create()))
  const threadIds = threads.map(({ thread_id }) => thread_id)
  const runs = await Promise.all(threadIds.map(async (threadId) => {
    const { run_id } = await client.runs.create(threadId, 'echo', { input: say('hello') })
    await client.runs.join(threadId, run_id)
    return run_id
  }))
  const found = await client.assistants.search()
  const { paths } = await (await fetch(`${url}/openapi.json`)).json() as {
    readonly paths: Readonly<Record<string, object>>
  }
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path }))
  )
  return { routes, threadIds, runIds: runs,
    assistantIds: found.map(({ assistant_id }) => assistant_id).slice(0, 3) }
}

async function servesOn({ routes }: Terrain): Promise<void> {
  expect(routes.length).toBeGreaterThan(30)
  const client = clientOf(server.url)
  const threadId = randomUUID()
  const values = await client.runs.wait(threadId, 'echo', {
    input: say('still there?'),
    ifNotExists: 'create',
  })
  expect(JSON.stringify(values)).toContain('echo: still there?')
  const answer = await fetch(`${server.url}/ok?check_db=1`)
  expect(await answer.json()).toMatchObject({ ok: true, dependencies: { store: { ok: true } } })
}
