/** Answers match /openapi.json: each operation is called and its answer validated. */

import { randomUUID } from 'node:crypto'
import { Compile } from 'typebox/schema'
import { describe, expect, it } from 'vitest'
import { getCaller, operations } from '../../src/api/index.ts'
import { say } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'

const server = useServer()

interface Answered {
  content?: Record<string, { schema: object }>
  headers?: object
}
interface Operation {
  operationId: string
  responses: Record<string, Answered | undefined>
}
interface Description {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object> }
}

let described: Promise<Description> | undefined

/** What the server describes. It is the same at each question. */
const description = () =>
  described ??= fetch(`${server.url}/openapi.json`).then((answer) =>
    answer.json() as Promise<Description>
  )

const validators = new Map<object, ReturnType<typeof Compile>>()

/** What is wrong with a body. To compile a schema takes longer than all of its uses. */
function faultsOf(schema: object, { components }: Description, body: unknown): unknown {
  const validator = validators.get(schema) ?? Compile({ components, ...schema })
  validators.set(schema, validator)
  return validator.Errors(body)[1]
}

/** The body of the answer, once its status, type, headers and schema match the description. */
async function describedAnswer(method: string, path: string, body?: unknown,
  headers?: Record<string, string>): Promise<unknown> {
  const whole = await description()
  const answer = await ask(server.url, method, path, body, headers)
  const operation = operationAt(whole, method, path.split('?', 1)[0]!)
  const about = `${operation.operationId} ${answer.status}`
  const response = operation.responses[answer.status < 400 ? answer.status : 'default']
  expect(response, about).toBeDefined()
  const own = ['location', 'content-location', 'x-pagination-total', 'x-pagination-next',
    'x-request-id', 'retry-after'].filter((name) => answer.headers.has(name))
  expect(Object.keys(response!.headers!), about).toEqual(expect.arrayContaining(own))
  const type = answer.headers.get('content-type')?.split(';', 1)[0]
  expect(type === undefined ? [] : [type], about).toEqual(Object.keys(response!.content ?? {}))
  if (type !== 'application/json') return undefined
  const { schema } = response!.content![type]!
  expect(faultsOf(schema, whole, answer.body), `${about}: ${JSON.stringify(answer.body)}`)
    .toEqual([])
  return answer.body
}

/** Of several templates that fit, the one with the fewest parameters is meant. */
function operationAt({ paths }: Description, method: string, path: string): Operation {
  const fits = (template: string) => new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`)
  const [found] = Object.keys(paths).filter((template) => fits(template).test(path))
    .toSorted((a, b) => a.split('{').length - b.split('{').length)
  return paths[found!]![method.toLowerCase()]!
}

const unknown = randomUUID()

it('describes every operation of the contract', async () => {
  const { paths } = await description()
  const named = operations.map(({ operation }) => {
    const { method } = operation
    const path: string = operation === getCaller ? '/auth' : operation.path
    return paths[path.replaceAll(/:(\w+)|\*/g, (part, name = part) => `{${name}}`)]
      ?.[method.toLowerCase()]
      ?.operationId
  })
  expect(named).toEqual(operations.map(({ name }) => name))
})

describe('an answer is as described', () => {
  it('of the server', async () => {
    for (const path of ['/ok', '/ok?check_db=1', '/ok?check_db=what', '/info', '/auth', '/limits',
      '/limits/refused', '/keys', '/cluster']) {
      await describedAnswer('GET', path)
    }
  })

  it('of assistants', async () => {
    const { assistant_id: id } = await describedAnswer('POST', '/assistants', {
      graph_id: 'configured',
      context: { model_name: 'a' },
    }) as { assistant_id: string }
    const calls: [string, string, object?][] = [
      ['GET', ''],
      ['PATCH', '', { context: 'any JSON' }],
      ['POST', '/latest', { version: 1 }],
      ['POST', '/latest', { version: 9 }],
      ['POST', '/versions', {}],
      ['GET', '/schemas'],
      ['GET', '/graph?xray=1'],
      ['GET', '/subgraphs'],
      ['GET', '/subgraphs/none'],
      ['DELETE', ''],
      ['DELETE', ''],
    ]
    for (const [method, path, body] of calls) {
      await describedAnswer(method, `/assistants/${id}${path}`, body)
    }
    for (const graph of ['nested', 'functional', 'calling', 'plain', 'needy']) {
      await describedAnswer('GET', `/assistants/${graph}/graph?xray=true`)
      await describedAnswer('GET', `/assistants/${graph}/schemas`)
      await describedAnswer('GET', `/assistants/${graph}/subgraphs?recurse=true`)
    }
    await describedAnswer('POST', '/assistants', { graph_id: 7 })
    await describedAnswer('POST', '/assistants', '{')
    await describedAnswer('POST', '/assistants/search', { limit: 1 })
    await describedAnswer('POST', '/assistants/search', { select: ['name'] })
    await describedAnswer('POST', '/assistants/count')
  })

  it('of threads', async () => {
    const { thread_id: id } = await describedAnswer('POST', '/threads') as { thread_id: string }
    const calls: [string, string, object?, Record<string, string>?][] = [
      ['GET', ''],
      ['PATCH', '', { metadata: { a: 1 } }],
      ['PATCH', '', {}, { prefer: 'return=minimal' }],
      ['GET', '/state'],
      ['GET', '/history'],
      ['POST', '/state', { values: {} }],
      ['POST', '/commands', { id: 1, method: 'agent.getTree' }],
      ['POST', '/commands', { id: 2, method: 'state.get', params: { namespace: [] } }],
      ['POST', '/commands', { id: 'x' }],
      ['POST', '/stream/events', {}],
      ['GET', '/stream/events'],
    ]
    for (const [method, path, body, headers] of calls) {
      await describedAnswer(method, `/threads/${id}${path}`, body, headers)
    }
    await describedAnswer('POST', '/threads', { thread_id: id })
    await describedAnswer('PATCH', `/threads/${id}`, { ttl: 60 })
    await describedAnswer('GET', `/threads/${id}?include=ttl`)
    await describedAnswer('GET', `/threads/${id}/storage`)
    await describedAnswer('GET', `/threads/${id}/place`)
    await describedAnswer('POST', `/threads/${id}/copy`)
    await describedAnswer('PATCH', `/threads/${id}/state`, { metadata: {} })
    await describedAnswer('POST', '/threads/prune', { thread_ids: [unknown] })
    await describedAnswer('POST', '/threads/search', { ids: [id] })
    await describedAnswer('POST', '/threads/search', { ids: [id], select: ['thread_id'],
      extract: { all: 'values' } })
    await describedAnswer('POST', '/threads/count')
    await describedAnswer('GET', `/threads/${unknown}`)
    await describedAnswer('DELETE', `/threads/${id}`)
  })

  it.each(['echo', 'ask', 'askboth', 'paused', 'failing', 'nestedask', 'nested', 'rich'])(
    'of a run of %s, and of the state that it leaves',
    async (graph) => {
      const { thread_id: id } = await server.client.threads.create()
      const run = { assistant_id: graph, input: { topic: 't', ...say('x') } }
      const at = `/threads/${id}`
      await describedAnswer('POST', `${at}/runs/wait`, run)
      await describedAnswer('GET', at)
      await describedAnswer('GET', `${at}/state?subgraphs=true`)
      const [newest] = await describedAnswer('POST', `${at}/history`, {}) as {
        checkpoint_id: string
      }[]
      await describedAnswer('GET', `${at}/state/${newest!.checkpoint_id}`)
      await describedAnswer('POST', `${at}/state/checkpoint`, { checkpoint: newest })
      await describedAnswer('POST', `${at}/copy`)
    },
  )

  it('of runs', async () => {
    const { thread_id: id } = await server.client.threads.create()
    const run = { assistant_id: 'echo', input: say('x') }
    const at = `/threads/${id}/runs`
    const { run_id } = await describedAnswer('POST', at, run) as { run_id: string }
    for (const path of ['', '/join', '/stream', '/logs']) {
      await describedAnswer('GET', `${at}/${run_id}${path}`)
    }
    await describedAnswer('POST', `${at}/${run_id}/cancel`)
    await describedAnswer('POST', `${at}/${run_id}/cancel?wait=1`)
    await describedAnswer('GET', at)
    await describedAnswer('GET', `${at}?select=run_id`)
    await describedAnswer('POST', `${at}/stream`, run)
    await describedAnswer('POST', at, { ...run, assistant_id: 'nosuch' })
    await describedAnswer('POST', at, { ...run, feedback_keys: [7] })
    await describedAnswer('DELETE', `${at}/${run_id}`)
    await describedAnswer('DELETE', `${at}/${run_id}`)
  })

  it('of stateless runs', async () => {
    const run = { assistant_id: 'echo', input: say('x'), on_completion: 'keep' }
    const { run_id } = await describedAnswer('POST', '/runs', run) as { run_id: string }
    await describedAnswer('GET', `/runs/${run_id}/stream`)
    await describedAnswer('POST', '/runs/batch', [run, run])
    await describedAnswer('POST', '/runs/batch', [run, { ...run, thread_id: unknown }])
    await describedAnswer('POST', '/runs/batch', [])
    // Only its own: other files use the server at the same time.
    const { run_id: waiting, thread_id } = await describedAnswer('POST', '/runs', { ...run,
      after_seconds: 600 }) as { run_id: string; thread_id: string }
    await describedAnswer('POST', '/runs/cancel', { thread_id, run_ids: [waiting] })
    await describedAnswer('POST', '/runs/cancel', { status: 'none' })
    await describedAnswer('POST', '/runs/stream', run)
    await describedAnswer('POST', '/runs/wait', run)
    await describedAnswer('GET', `/runs/${unknown}/stream`)
  })
})
