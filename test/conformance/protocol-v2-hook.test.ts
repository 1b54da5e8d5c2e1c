/** Protocol v2 as the hooks of today's client packages use it: the controller inside of each. */

import { randomUUID } from 'node:crypto'
import { StreamController } from '@langchain/langgraph-sdk/stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { useGates } from '../support/gate.ts'
import { isNight } from '../support/repeats.ts'
import { say, texts } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import type { StreamTransport } from '../support/thread-stream.ts'

const server = useServer()
const gate = useGates()

interface Hook {
  readonly controller: StreamController
  readonly snapshot: ReturnType<StreamController['rootStore']['getSnapshot']>
  /** Resolves when the client has the id of its first run. */
  readonly created: Promise<unknown>
  /** The longest list of message texts that was ever shown at once. */
  readonly longest: string[]
  texts(): string[]
}

/** Resolves when a thread has the text: of a run that is interrupted before, nothing stays. */
async function durable(threadId: string, text: string): Promise<void> {
  await expect.poll(async () => texts((await server.client.threads.getState(threadId)).values))
    .toContain(text)
}

describe.each<StreamTransport>(['sse', 'websocket'])('a hook over %s', (transport) => {
  /** By day each case is asked over one of the two, in turns; by night over both. */
  let cases = transport === 'sse' ? 0 : 1
  const isAsked = () => isNight || cases++ % 2 === 0

  function hook(assistantId: string, threadId: string | null = null): Hook {
    const { promise: created, resolve: onCreated } = Promise.withResolvers<unknown>()
    const controller = new StreamController({ client: server.client as never, assistantId, threadId,
      transport, onCreated })
    const longest: string[] = []
    const texts = () => controller.rootStore.getSnapshot().messages.map(({ text }) => text)
    controller.rootStore.subscribe(() => {
      if (texts().length > longest.length) longest.splice(0, Infinity, ...texts())
    })
    const release = controller.activate()
    onTestFinished(async () => {
      release()
      await controller.dispose()
    })
    return {
      controller,
      created,
      longest,
      texts,
      get snapshot() {
        return controller.rootStore.getSnapshot()
      },
    }
  }

  async function reopened({ snapshot }: Hook, assistantId: string): Promise<Hook> {
    const again = hook(assistantId, snapshot.threadId)
    await again.controller.hydrate(snapshot.threadId)
    return again
  }

  it.runIf(isAsked())('shows a new thread, a second turn and, after a reload, both', async () => {
    const shown = hook('echo')
    await shown.controller.submit(say('one'))
    await expect.poll(shown.texts).toEqual(['one', 'echo: one'])
    expect(shown.snapshot).toMatchObject({ isLoading: false, error: undefined })
    await shown.controller.submit(say('two'))
    await expect.poll(shown.texts).toEqual(['one', 'echo: one', 'two', 'echo: two'])
    const again = await reopened(shown, 'echo')
    await expect.poll(again.texts).toEqual(['one', 'echo: one', 'two', 'echo: two'])
    expect(again.snapshot.isLoading).toBe(false)
    await again.controller.submit(say('three'))
    await expect.poll(() => again.texts().slice(4)).toEqual(['three', 'echo: three'])
  })

  it.runIf(isAsked())('streams a message in place: it is shown once, before and after it is done',
    async () => {
      const shown = hook('tokens')
      await shown.controller.submit(say('hi'))
      await expect.poll(shown.texts).toEqual(['hi', 'one two three'])
      expect(shown.longest).toHaveLength(2)
      await shown.controller.submit(say('again'))
      await expect.poll(shown.texts).toEqual(['hi', 'one two three', 'again', 'one two three'])
      expect(shown.longest).toHaveLength(4)
    })

  it.runIf(isAsked())('shows a question, and answers it', async () => {
    const shown = hook('ask')
    await shown.controller.submit({ question: 'ready?' })
    await expect.poll(() => shown.snapshot).toMatchObject({ isLoading: false,
      interrupts: [{ id: expect.any(String), value: { question: 'ready?' } }] })
    await shown.controller.respond('yes')
    await expect.poll(() => shown.snapshot.values).toMatchObject({ answers: ['yes', 'after'] })
    await expect.poll(() => shown.snapshot.isLoading).toBe(false)
    expect(shown.snapshot.interrupts).toEqual([])
  })

  it.runIf(isAsked())('answers a question after a reload', async () => {
    const first = hook('ask')
    await first.controller.submit({ question: 'ready?' })
    const shown = await reopened(first, 'ask')
    expect(shown.snapshot.interrupts).toMatchObject([{ value: { question: 'ready?' } }])
    await expect.poll(() => shown.controller.getThread()?.interrupts).toHaveLength(1)
    await shown.controller.respond('yes')
    await expect.poll(() => shown.snapshot.values).toMatchObject({ answers: ['yes', 'after'] })
  })

  it.runIf(isAsked())('answers a question of a subgraph', async () => {
    const shown = hook('nestedask')
    await shown.controller.submit({ topic: 'now' })
    await expect.poll(() => shown.snapshot.interrupts).toMatchObject([{ value: 'now?' }])
    await shown.controller.respond('yes')
    await expect.poll(() => shown.snapshot.values)
      .toMatchObject({ log: expect.arrayContaining(['after']) })
    await expect.poll(() => shown.snapshot.isLoading).toBe(false)
  })

  it.runIf(isAsked())('leaves a run, which goes on, and rejoins it', async () => {
    const hold = gate()
    const first = hook('held', randomUUID())
    const submitted = first.controller.submit(say(`hold ${hold.url}`))
    await hold.arrived()
    // A hook opens no stream if the state that it reads has no next nodes yet.
    await expect.poll(first.texts).toContain('first')
    await first.controller.disconnect()
    await submitted
    const shown = await reopened(first, 'held')
    await expect.poll(() => shown.snapshot.isLoading).toBe(true)
    hold.open()
    await expect.poll(() => shown.texts().at(-1)).toBe('last')
    await expect.poll(() => shown.snapshot.isLoading).toBe(false)
    expect(shown.texts()).toHaveLength(4)
  })

  it.runIf(isAsked())('stops a run', async () => {
    const hold = gate()
    const shown = hook('held', randomUUID())
    const submitted = shown.controller.submit(say(`hold ${hold.url}`))
    await hold.arrived()
    // The client cannot stop a run whose id it does not have yet.
    await expect.poll(shown.texts).toContain('first')
    await shown.created
    await durable(shown.snapshot.threadId!, 'first')
    await shown.controller.stop()
    await submitted
    expect(shown.snapshot).toMatchObject({ isLoading: false, error: undefined })
    const { threadId } = shown.snapshot
    await expect.poll(async () => (await server.client.runs.list(threadId!))[0]!.status)
      .toBe('interrupted')
    await shown.controller.submit(say('next'))
    await expect.poll(() => shown.texts().slice(-2)).toEqual(['held', 'last'])
  })

  it.runIf(isAsked())('shows an error, and goes on after it', async () => {
    const shown = hook('failing')
    await shown.controller.submit({}).catch(() => {})
    await expect.poll(() => shown.snapshot.error).toBeDefined()
    expect(shown.snapshot.isLoading).toBe(false)
  })

  it.runIf(isAsked())('shows an unknown assistant as an error', async () => {
    const shown = hook('nobody')
    await shown.controller.submit({}).catch(() => {})
    await expect.poll(() => String(shown.snapshot.error)).toMatch(/No assistant found/)
  })

  it.runIf(isAsked())('queues a second submit', async () => {
    const hold = gate()
    const shown = hook('held', randomUUID())
    const first = shown.controller.submit(say(`hold ${hold.url}`))
    await hold.arrived()
    const second = shown.controller.submit(say('second'), { multitaskStrategy: 'enqueue' })
    hold.open()
    await Promise.all([first, second])
    await expect.poll(() => shown.texts().filter((text) => text === 'last')).toHaveLength(2)
    await expect.poll(() => shown.snapshot.isLoading).toBe(false)
  })

  it.runIf(isAsked())('interrupts its run by a second submit', async () => {
    const hold = gate()
    const shown = hook('held', randomUUID())
    const first = shown.controller.submit(say(`hold ${hold.url}`))
    await hold.arrived()
    await expect.poll(shown.texts).toContain('first')
    await durable(shown.snapshot.threadId!, 'first')
    const second = shown.controller.submit(say('second'), { multitaskStrategy: 'interrupt' })
    await Promise.all([first.catch(() => {}), second])
    await expect.poll(() => shown.texts().at(-1)).toBe('last')
    await expect.poll(() => shown.snapshot.isLoading).toBe(false)
    await hold.left()
  })

  it.runIf(isAsked())('shows the subgraph that asks, and answers it', async () => {
    const shown = hook('nestedask')
    await shown.controller.submit({ topic: 't' })
    await expect.poll(() => shown.snapshot.interrupts)
      .toMatchObject([{ value: 't?', namespace: [expect.stringMatching(/^sub:/)] }])
    expect(shown.snapshot.error).toBeUndefined()
    await shown.controller.respond('yes')
    await expect.poll(() => shown.snapshot.values).toMatchObject({ log: ['answer yes', 'after'] })
  })

  it.runIf(isAsked())('finds subgraphs', async () => {
    const shown = hook('nested')
    await shown.controller.submit({ topic: 't' })
    await expect.poll(() => shown.snapshot.values)
      .toMatchObject({ log: ['outer', 'outer', 'deep'] })
    await expect.poll(() => [...shown.controller.subgraphByNodeStore.getSnapshot().keys()])
      .toContain('sub')
  })
})
