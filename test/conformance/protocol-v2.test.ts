/** Protocol v2 through the unmodified official client, over server-sent events and WebSocket. */

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { useGates } from '../support/gate.ts'
import { isNight } from '../support/repeats.ts'
import { say, texts } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { WatchedThread } from '../support/thread-stream.ts'
import type { StreamTransport } from '../support/thread-stream.ts'

const server = useServer()
const gate = useGates()

const valuesOf = async (id: string) => texts((await server.client.threads.get(id)).values)

/** Sends a command that the client has no method for, and resolves with the answer. */
async function command(threadId: string, method: string, params: object) {
  const answer = await fetch(`${server.url}/threads/${threadId}/commands`, { method: 'POST',
    body: JSON.stringify({ id: 1, method, params }) })
  return await answer.json() as { type: string; error?: string; result?: Record<string, unknown> }
}

/** The end of the first run of a thread, for a client in Python with an HTTP client of its own. */
async function firstEnd(threadId: string): Promise<unknown> {
  const sent = request(`${server.url}/threads/${threadId}/stream/events`, { method: 'POST',
    headers: { 'user-agent': 'acme-crm/2.1' } })
  sent.end(JSON.stringify({ channels: ['lifecycle', 'values'] }))
  const [body] = await once(sent, 'response') as [IncomingMessage]
  let text = ''
  for await (const chunk of body.setEncoding('utf8')) {
    text += chunk as string
    const end = /"namespace":\[\].*"data":(?<data>\{"event":"(?:failed|completed).*\})\}\}\n/
      .exec(text)
    if (end) return JSON.parse(end.groups!['data']!)
  }
  return undefined
}

describe.each<StreamTransport>(['sse', 'websocket'])('over %s', (transport) => {
  /** By day each case is asked over one of the two, in turns; by night over both. */
  let cases = transport === 'sse' ? 0 : 1
  const isAsked = () => isNight || cases++ % 2 === 0

  const watch = (assistantId: string, threadId: string = randomUUID()) =>
    new WatchedThread(server.client, threadId, assistantId, transport)

  it.runIf(isAsked())(
    'a new thread is made by its first run, which is seen from its start to its end',
    async () => {
      const thread = watch('echo')
      await thread.subscribe()
      const runId = await thread.start(say('hi'))
      expect(await thread.ended(runId)).toBe('completed')
      expect(thread.rootEvents(runId).map(({ params }) => params.data))
        .toMatchObject([{ event: 'running', graph_name: 'echo' }, { event: 'completed' }])
      expect(texts(thread.dataOf('values', []).at(-1))).toEqual(['hi', 'echo: hi'])
      const seqs = thread.events.map(({ seq }) => seq)
      expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
      expect(new Set(thread.events.map(({ event_id }) => event_id)).size).toBe(seqs.length)
      expect(await server.client.runs.get(thread.stream.threadId, runId))
        .toMatchObject({ status: 'success', metadata: { assistant_id: expect.any(String) } })
    },
  )

  it.runIf(isAsked())('the output of the client is the last state', async () => {
    const thread = watch('echo')
    await thread.start(say('hi'))
    const output = await thread.stream.output as { messages: { text: string }[] }
    expect(output.messages.map(({ text }) => text)).toEqual(['hi', 'echo: hi'])
  })

  it.runIf(isAsked())("the channels of a graph's stream transformers are extensions of the client",
    async () => {
      const thread = watch('counted')
      const counts = thread.stream.extensions['counts'] as AsyncIterable<number>
      const first = (async () => {
        for await (const count of counts) return count
        return undefined
      })()
      await thread.start(say('hi'))
      expect(await first).toBe(1)
    })

  it.runIf(isAsked())('a second turn continues the first', async () => {
    const thread = watch('echo')
    await thread.subscribe()
    const first = await thread.start(say('one'))
    await thread.ended(first)
    const second = await thread.start(say('two'))
    expect(await thread.ended(second)).toBe('completed')
    expect(texts(thread.dataOf('values', []).at(-1)))
      .toEqual(['one', 'echo: one', 'two', 'echo: two'])
    const [running] = thread.rootEvents(second)
    expect(running!.seq).toBeGreaterThan(thread.rootEvents(first).at(-1)!.seq)
  })

  it.runIf(isAsked())('an interrupt is requested, and answered by its id', async () => {
    const thread = watch('ask')
    await thread.subscribe()
    const asked = await thread.start({ question: 'ready?' })
    expect(await thread.ended(asked)).toBe('interrupted')
    expect(thread.stream.interrupted).toBe(true)
    const [{ interruptId, payload }] = thread.stream.interrupts as unknown as [
      { interruptId: string; payload: unknown },
    ]
    expect(payload).toEqual({ question: 'ready?' })
    expect(thread.dataOf('input.requested')).toEqual([
      { interrupt_id: interruptId, payload, value: payload },
    ])
    await thread.stream.input.respond({ namespace: [], interrupt_id: interruptId, response: 'yes' })
    await expect.poll(() => thread.dataOf('lifecycle', []).at(-1))
      .toMatchObject({ event: 'completed' })
    expect(thread.dataOf('values', []).at(-1)).toMatchObject({ answers: ['yes', 'after'] })
    expect(thread.dataOf('input.answered', [])).toEqual([{ interrupt_ids: [interruptId] }])
  })

  it.runIf(isAsked())('a question in a subgraph has its namespace, live and for a later reader',
    async () => {
      const thread = watch('nestedask')
      await thread.subscribe(['lifecycle'])
      const inside = await thread.stream.subscribe({ channels: ['input'], namespaces: [['sub']] })
      const asked = await thread.start({ topic: 't' })
      expect(await thread.ended(asked)).toBe('interrupted')
      const { value: requested } = await inside[Symbol.asyncIterator]().next() as {
        value: { params: { namespace: string[]; data: object } }
      }
      expect(requested.params).toMatchObject({ data: { payload: 't?' },
        namespace: [expect.stringMatching(/^sub:/)] })
      const [interrupt] = thread.stream.interrupts
      expect(interrupt!.namespace).toEqual(requested.params.namespace)
      const later = watch('nestedask', thread.stream.threadId)
      await later.subscribe(['input'])
      await expect.poll(() => later.dataOf('input.requested', requested.params.namespace))
        .toEqual([requested.params.data])
      await thread.stream.input.respond({ namespace: [...interrupt!.namespace],
        interrupt_id: interrupt!.interruptId!, response: 'yes' })
      await expect.poll(() => thread.dataOf('lifecycle', []).at(-1))
        .toMatchObject({ event: 'completed' })
    })

  it.runIf(isAsked())('a run.start on a thread that waits is the answer', async () => {
    const thread = watch('ask')
    await thread.subscribe()
    await thread.ended(await thread.start({ question: 'ready?' }))
    const answer = await thread.start('yes')
    expect(await thread.ended(answer)).toBe('completed')
    expect(thread.dataOf('values', []).at(-1)).toMatchObject({ answers: ['yes', 'after'] })
  })

  it.runIf(isAsked())('several questions are answered at once', async () => {
    const thread = watch('askboth')
    await thread.subscribe()
    await thread.ended(await thread.start({}))
    const responses = thread.stream.interrupts.map(({ interruptId, namespace }) => ({ namespace,
      interrupt_id: interruptId!, response: 'ok' })
    )
    expect(responses).toHaveLength(2)
    await thread.stream.input.respond({ responses } as never)
    await expect.poll(() => thread.dataOf('lifecycle', []).at(-1))
      .toMatchObject({ event: 'completed' })
    expect(thread.dataOf('values', []).at(-1))
      .toMatchObject({ answers: expect.arrayContaining(['left ok', 'right ok']) })
  })

  it.runIf(isAsked())('a wrong answer is refused, and the thread stays interrupted', async () => {
    const thread = watch('ask')
    const id = thread.stream.threadId
    await thread.subscribe()
    await thread.ended(await thread.start({ question: 'ready?' }))
    const unknown = 'f'.repeat(32)
    await expect(
      thread.stream.input.respond({ namespace: [], interrupt_id: unknown, response: 'x' }),
    ).rejects.toMatchObject({ code: 'no_such_interrupt' })
    const { result } = await command(id, 'input.respond', { interrupt_id: unknown, response: 'x',
      strict_resume: true })
    expect(await thread.ended(String(result!.run_id))).toBe('failed')
    expect(thread.rootEvents(String(result!.run_id)).at(-1)!.params.data).toMatchObject({
      event: 'failed',
      reason: 'not_pending',
      interrupt_ids: [unknown],
      pending_ids: [expect.any(String)],
    })
    expect(await server.client.threads.get(id)).toMatchObject({ status: 'interrupted' })
  })

  it.runIf(isAsked())('who leaves and comes back sees the same events, with the same ids',
    async () => {
      const hold = gate()
      const thread = watch('held')
      await thread.subscribe()
      const runId = await thread.start(say(`hold ${hold.url}`))
      await hold.arrived()
      await thread.stream.close()
      const again = watch('held', thread.stream.threadId)
      await again.subscribe()
      await expect.poll(() => again.rootEvents(runId)).toHaveLength(1)
      hold.open()
      expect(await again.ended(runId)).toBe('completed')
      expect(again.events.slice(0, thread.events.length)).toEqual(thread.events)
      const last = watch('held', thread.stream.threadId)
      await last.subscribe()
      await last.ended(runId)
      expect(last.events.filter(({ method }) => method !== 'messages'))
        .toEqual(again.events.filter(({ method }) => method !== 'messages'))
    })

  it.runIf(isAsked())('a client that starts a second run does not get the end of the first',
    async () => {
      const hold = gate()
      const first = watch('held')
      await first.start(say('first'))
      await first.stream.output
      const again = watch('held', first.stream.threadId)
      const runId = await again.start(say(`hold ${hold.url}`))
      const output = again.stream.output
      await hold.arrived()
      await expect.poll(() => again.rootEvents(runId)).toHaveLength(1)
      expect(again.dataOf('lifecycle', []).map(({ event }) => event)).toEqual(['running',
        'running'])
      hold.open()
      const { messages } = await output as { messages: { text: string }[] }
      expect(messages).toHaveLength(8)
    })

  it.runIf(isAsked())('a run that is stopped ends as interrupted, and its streams stay open',
    async () => {
      const hold = gate()
      const thread = watch('held')
      await thread.subscribe()
      const runId = await thread.start(say(`hold ${hold.url}`))
      await hold.arrived()
      await server.client.runs.cancel(thread.stream.threadId, runId, false, 'interrupt')
      expect(await thread.ended(runId)).toBe('interrupted')
      expect(thread.dataOf('lifecycle', []).at(-1)).toMatchObject({ reason: 'cancelled' })
      expect(await firstEnd(thread.stream.threadId)).toMatchObject({ event: 'failed',
        error: 'The run was cancelled.' })
      expect(await thread.ended(await thread.start(say('next')))).toBe('completed')
    })

  it.runIf(isAsked())('a message joins the run that executes, and is in its next values',
    async () => {
      const hold = gate()
      const thread = watch('held')
      await thread.subscribe()
      const { text, input } = { text: `hold ${hold.url}`, input: say(`hold ${hold.url}`) }
      const runId = await thread.start(input)
      await hold.arrived()
      await thread.stream.input.inject({ namespace: [],
        message: { role: 'user', content: 'also' } })
      hold.open()
      expect(await thread.ended(runId)).toBe('completed')
      expect(texts(thread.dataOf('values', []).at(-1)))
        .toEqual([text, 'first', 'held', 'also', 'last'])
      expect(thread.rootEvents(runId).map(({ params }) => params.data))
        .toMatchObject([{ event: 'running' }, { event: 'running' }, { event: 'completed' }])
      expect(await server.client.runs.list(thread.stream.threadId)).toHaveLength(1)
      expect(
        await command(thread.stream.threadId, 'input.inject', {
          message: { role: 'user', content: 'late' },
        }),
      ).toMatchObject({ type: 'error', error: 'no_such_run' })
    })

  it.runIf(isAsked())('a second run waits for the first by default', async () => {
    const hold = gate()
    const thread = watch('held')
    await thread.subscribe()
    const first = await thread.start(say(`hold ${hold.url}`))
    await hold.arrived()
    const second = await thread.start(say('second'))
    hold.open()
    expect(await thread.ended(second)).toBe('completed')
    expect(thread.rootEvents(second)[0]!.seq)
      .toBeGreaterThan(thread.rootEvents(first).at(-1)!.seq)
  })

  it.runIf(isAsked())('a second run is refused if it says so', async () => {
    const hold = gate()
    const thread = watch('held')
    const first = await thread.start(say(`hold ${hold.url}`))
    await hold.arrived()
    await expect(thread.start(say('no'), { multitaskStrategy: 'reject' }))
      .rejects.toMatchObject({ code: 'invalid_argument' })
    hold.open()
    expect(await server.client.runs.join(thread.stream.threadId, first)).toBeDefined()
  })

  it.runIf(isAsked())('an error ends the run with its reason', async () => {
    const thread = watch('failing')
    await thread.subscribe()
    const runId = await thread.start({})
    expect(await thread.ended(runId)).toBe('failed')
    expect(thread.rootEvents(runId).at(-1)!.params.data)
      .toMatchObject({ event: 'failed', error: expect.any(String) })
  })

  it.runIf(isAsked())('messages are streamed with the ids that they have in the state',
    async () => {
      const thread = watch('tokens')
      await thread.subscribe()
      const runId = await thread.start(say('hi'))
      const { value: message } = await thread.stream.messages[Symbol.asyncIterator]().next() as {
        value: { text: PromiseLike<string> }
      }
      expect(await message.text).toBe('one two three')
      await thread.ended(runId)
      const started = thread.dataOf('messages').filter(({ event }) => event === 'message-start')
      const { messages } = thread.dataOf('values', []).at(-1) as unknown as {
        messages: { id: string; type: string }[]
      }
      expect(started).toMatchObject([{ role: 'ai', id: messages.at(-1)!.id }])
      expect(
        thread.dataOf('messages').map(({ event }) => event).filter((name, at, all) =>
          name !== all[at - 1]
        ),
      ).toEqual(['message-start', 'content-block-start', 'content-block-delta',
        'content-block-finish', 'message-finish'])
    })

  it.runIf(isAsked())('what a node writes comes by its channel, and below a namespace',
    async () => {
      const thread = watch('nested')
      await thread.subscribe()
      expect(await thread.ended(await thread.start({ topic: 't' }))).toBe('completed')
      const below = thread.events.filter(({ params }) => params.namespace[0]?.startsWith('sub:'))
      expect(below.filter(({ method }) => method === 'custom').map(({ params }) => params.data))
        .toMatchObject([{ payload: { from: 'deep' } }])
      expect(below.filter(({ method }) => method === 'lifecycle')
        .map(({ params }) => params.data.event)).toEqual(expect.arrayContaining(
          ['started', 'completed'],
        ))
      expect(thread.dataOf('updates', []))
        .toMatchObject([{ node: 'outer', values: {} }, { node: 'sub', values: {} }])
      expect(await thread.stream.agent.getTree()).toEqual({
        tree: { namespace: [], status: 'completed', graph_name: 'nested',
          children: [{ namespace: [expect.stringMatching(/^sub:/)], status: 'completed',
            graph_name: 'sub' }] },
      })
      const narrow = new WatchedThread(server.client, thread.stream.threadId, 'nested', transport)
      await narrow.stream.subscribe({ channels: ['values', 'custom', 'lifecycle'],
        namespaces: [['sub']] })
      await expect.poll(() => narrow.events.length).toBe(
        below.filter(({ method }) => ['values', 'custom', 'lifecycle'].includes(method)).length,
      )
    })

  it.runIf(isAsked())(
    'an answer and a tool of a graph in a graph are at the namespace of that graph',
    async () => {
      const thread = watch('nestedwork')
      await thread.subscribe()
      expect(await thread.ended(await thread.start(say('go')))).toBe('completed')
      const made = thread.events.filter(({ method, params: { data: { event } } }) =>
        method === 'tools' || event === 'message-start' || event === 'message-finish'
      )
      const inside = [expect.stringMatching(/^sub:/)]
      expect(made.map(({ params: { data, namespace } }) => [data.event, namespace])).toEqual([
        ['tool-started', inside],
        ['tool-finished', inside],
        ['message-start', inside],
        ['message-finish', inside],
      ])
    },
  )

  it.runIf(isAsked())('runs of other origins are seen, also before the thread exists', async () => {
    const id = randomUUID()
    const thread = watch('echo', id)
    await thread.subscribe()
    await server.client.threads.create({ threadId: id })
    const { run_id } = await server.client.runs.create(id, 'echo', { input: say('legacy') })
    expect(await thread.ended(run_id)).toBe('completed')
    expect(texts(thread.dataOf('values', []).at(-1))).toEqual(['legacy', 'echo: legacy'])
  })

  it.runIf(isAsked())('state, checkpoints, tree and fork are answered', async () => {
    const thread = watch('echo')
    await thread.subscribe()
    await thread.ended(await thread.start(say('one')))
    const { state, agent } = thread.stream
    const { values, checkpoint } = await state.get({ namespace: [] }) as {
      values: unknown
      checkpoint: { id: string }
    }
    expect(texts(values)).toEqual(['one', 'echo: one'])
    const { checkpoints } = await state.listCheckpoints({}) as unknown as {
      checkpoints: { id: string; step: number }[]
    }
    expect(checkpoints.map(({ step }) => step)).toEqual([1, 0, -1])
    expect(checkpoints[0]!.id).toBe(checkpoint.id)
    expect(await agent.getTree()).toEqual({
      tree: { namespace: [], status: 'completed', graph_name: 'echo' },
    })
    const fork = await state.fork({ checkpoint_id: checkpoints[2]!.id, input: say('other') }) as {
      run_id: string
    }
    expect(await thread.ended(fork.run_id)).toBe('completed')
    expect(await valuesOf(thread.stream.threadId)).toEqual(['other', 'echo: other'])
    await expect(state.fork({ checkpoint_id: randomUUID() }))
      .rejects.toMatchObject({ code: 'no_such_checkpoint' })
    await expect(state.get({ namespace: ['nowhere'] }))
      .rejects.toMatchObject({ code: 'no_such_namespace' })
  })
})
