/**
 * Sessions of the Model Context Protocol. Each message of a client goes to the next member: one
 * answer comes to it, whichever gets it, and also when one of them dies.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFailed } from 'vitest'

import { eventually } from '../support/eventually.ts'
import { useGates } from '../support/gate.ts'
import { say } from '../support/run-events.ts'
import { clientOf } from '../support/server.ts'
import { toolClient } from '../support/tool-client.ts'
import type { OpenCall, RpcMessage } from '../support/tool-client.ts'

const forms = { elicitation: { form: {} } }

const accepted = (answer: string) => ({ action: 'accept', content: { answer } })

/** Three front doors, which serve the project `conformance`. They may be of one server. */
export interface ToolPlace {
  readonly doors: readonly string[]
  /** Kills the member of the first door. The other doors are served after that. */
  kill(): Promise<void>
  /** Resolves when all doors are served again. */
  restore(): Promise<void>
  /** The last output of each member. */
  story(): string
  close(): Promise<void>
}

/** Describes sessions at such a place. */
export function describeToolSessions(name: string, open: () => Promise<ToolPlace>): void {
  describe(`a session at ${name}`, () => {
    let place: ToolPlace
    const gate = useGates()

    beforeAll(async () => {
      place = await open()
    }, 240_000)
    afterAll(async () => await place?.close(), 120_000)
    beforeEach(() => onTestFailed(() => console.log(place.story())))

    /** A client whose session begins at the first member. */
    const begun = async (capabilities: object = forms) => {
      const client = toolClient(...place.doors)
      await client.initialize(capabilities)
      return client
    }
    /** The threads that calls have left. */
    const left = async () => {
      const threads = await clientOf(place.doors.at(-1)!).threads.search({ limit: 100 })
      return threads.filter(({ metadata }) => metadata?.['mcp_tool'] !== undefined)
    }
    /** Resolves with the id of the last event, once there is one. */
    const primed = async (call: OpenCall) => {
      await expect.poll(() => call.lastId()).toBeDefined()
      return call.lastId()!
    }

    it('lists the same tools, and calls them', async () => {
      const client = await begun()
      const lists = []
      for (let member = 0; member < 3; member++) lists.push((await client.ask('tools/list')).result)
      expect(lists[1]).toEqual(lists[0])
      expect(lists[2]).toEqual(lists[0])
      for (let member = 0; member < 3; member++) {
        const { result } = client.call('echo', say('x'), { id: member + 10 })
        expect(await result).toMatchObject({ result: { structuredContent: {
          messages: [{ content: 'x' }, { content: 'echo: x' }],
        } } })
      }
      await expect.poll(left).toEqual([])
    })

    it('reports progress, whoever has the run', async () => {
      const client = await begun({})
      for (let member = 0; member < 3; member++) {
        const { messages, result } = client.stream('tools/call', { name: 'steps',
          arguments: { topic: 't' }, _meta: { progressToken: 'p' } }, { id: member + 10 })
        expect(await messages.next()).toMatchObject({ method: 'notifications/progress',
          params: { progressToken: 'p', progress: 1 } })
        expect(await result).toMatchObject({ result: { content: [{ type: 'text' }] } })
      }
      await expect.poll(left).toEqual([])
    })

    it('takes the answer to a question at another member', async () => {
      const client = await begun()
      const { messages, result } = client.call('asktwice', {}, { id: 10 })
      for (const message of ['first?', 'second?']) {
        const question = await messages.next()
        expect(question.params).toMatchObject({ message })
        expect((await left()).length).toBe(1)
        expect(await client.answer(question.id!, accepted(message))).toBe(202)
      }
      expect(await result).toMatchObject({ result: {
        structuredContent: { answers: ['first?', 'second?'] },
      } })
      await expect.poll(left).toEqual([])
    })

    it('goes on with the same questions in results of 2026-07-28', async () => {
      const client = toolClient(...place.doors)
      const call = { name: 'ask', arguments: { question: 'q' } }
      const { result } = await client.asModern('tools/call', call, forms)
      const { requestState, inputRequests } = result as { requestState: string;
        inputRequests: Record<string, object> }
      const inputResponses = Object.fromEntries(
        Object.keys(inputRequests).map((id) => [id, accepted('this')]),
      )
      expect(await client.asModern('tools/call', { ...call, requestState, inputResponses }, forms))
        .toMatchObject({ result: { structuredContent: { answers: ['this', 'after'] } } })
      await expect.poll(left).toEqual([])
    })

    it.each([{}, forms])('cancels a call at another member, of a client with %j',
      async (abilities) => {
        const client = await begun(abilities)
        const hold = gate()
        const { result } = client.call('held', say(`hold ${hold.url}`), { id: 10 })
        result.catch(() => {})
        await hold.arrived()
        expect(await client.notify('notifications/cancelled', { requestId: 10 })).toBe(202)
        await hold.left()
        await expect.poll(left).toEqual([])
      })

    it('tells of tools that were made at another member', async () => {
      const listening = toolClient(place.doors[0]!).subscribe({ toolsListChanged: true })
      expect(await listening.next()).toMatchObject({
        method: 'notifications/subscriptions/acknowledged',
      })
      await clientOf(place.doors[1]!).assistants.create({ graphId: 'echo', name: 'Another' })
      expect(await listening.next()).toMatchObject({ method: 'notifications/tools/list_changed' })
    })

    it('gives an answer that its client has lost, at another member', async () => {
      const client = await begun()
      const hold = gate()
      const leaves = new AbortController()
      const lost = client.call('held', say(`hold ${hold.url}`), { id: 10, signal: leaves.signal })
      lost.result.catch(() => {})
      const id = await primed(lost)
      await hold.arrived()
      leaves.abort()
      hold.open()
      expect(await client.resume(id).result).toMatchObject({ id: 10, result: { content: [{}] } })
      await expect.poll(left).toEqual([])
    })

    it('asks again when the member of the stream has died, and goes on', async () => {
      const client = await begun()
      // The third message since the session began: it goes to the first member again.
      await client.ask('ping')
      await client.ask('ping')
      const lost = client.call('ask', { question: 'still?' }, { id: 10 })
      const failed = lost.result.then(() => 'answered', () => 'lost')
      const question: RpcMessage = await lost.messages.next()
      const id = lost.lastId()!
      await place.kill()
      expect(await failed).toBe('lost')
      client.moveTo(...place.doors.slice(1))
      // Without the question, as if it had not come through: it is asked again.
      const resumed = await eventuallyResumed(() => client.resume(id.replace(/[^.]*$/, '')))
      expect(resumed.first).toMatchObject({ id: question.id, params: { message: 'still?' } })
      expect(await client.answer(question.id!, accepted('yes'))).toBe(202)
      expect(await resumed.call.result).toMatchObject({ id: 10,
        result: { structuredContent: { answers: ['yes', 'after'] } } })
      await place.restore()
      await expect.poll(left).toEqual([])
    }, 240_000)
  })
}

/** Comes back until the thread has an owner again. */
function eventuallyResumed(resume: () => OpenCall): Promise<
  { readonly call: OpenCall; readonly first: RpcMessage }
> {
  return eventually(async () => {
    const call = resume()
    const refused = call.result.then((answer) => {
      if (answer.error === undefined) return new Promise<never>(() => {})
      throw new Error(answer.error.message)
    })
    return { call, first: await Promise.race([call.messages.next(), refused]) }
  })
}
