/** Commands whose answer was lost with their owner: tried again, they take effect once. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import type { ThreadView } from '../../../../src/thread/index.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import type { Scripted, ScriptedHost } from '../../../support/scripted-host.ts'
import { aRun, settled } from '../../../support/thread-house.ts'
import { ThreadPair } from '../../../support/thread-pair.ts'
import type { Fate } from '../../../support/thread-pair.ts'

const runId = (number: number) => `r${number}`

/** Makes edits end at once, each adding its number; runs continue until the test ends them. */
function editing(host: ScriptedHost): void {
  const execute = host.execute.bind(host)
  host.execute = (execution, source, listener) => {
    execute(execution, source, listener)
    const { request, id } = execution
    if (request.kind !== 'edit') return
    const text = JSON.parse(request.supersteps[0]![0]!.values) as string
    queueMicrotask(() => void endAfter(host, host.running.get(id), `edit ${text}`))
  }
}

async function endAfter(host: ScriptedHost, scripted: Scripted | undefined, text: string) {
  if (!scripted) return
  await host.step(scripted, text).catch(() => {})
  if (host.running.has(scripted.execution.id)) host.end(scripted)
}

type Act =
  | { readonly do: 'create' | 'create with steps' | 'delete' | 'edit' | 'copy' }
  | { readonly do: 'patch'; readonly value: number }
  | { readonly do: 'start'; readonly strategy: 'enqueue' | 'interrupt' | 'rollback' | 'reject' }
  | { readonly do: 'cancel'; readonly action: 'interrupt' | 'rollback'; readonly pick: number }
  | { readonly do: 'delete run'; readonly pick: number }

const name = (one: string) => fc.constant(one as never)

const acts = fc.oneof(
  fc.record({ do: fc.constantFrom('create', 'create with steps', 'delete', 'edit', 'copy') }),
  fc.record({ do: name('patch'), value: fc.nat(9) }),
  fc.record({ do: name('start'),
    strategy: fc.constantFrom('enqueue', 'interrupt', 'rollback', 'reject') }),
  fc.record({ do: name('cancel'), action: fc.constantFrom('interrupt', 'rollback'),
    pick: fc.nat(3) }),
  fc.record({ do: name('delete run'), pick: fc.nat(3) }),
) as fc.Arbitrary<Act>

const fates = fc.constantFrom<Fate>('none', 'unheard', 'silent', 'silent')

/** A thread, always with the same id, and what its callers saw of it. */
class Story {
  readonly pair = new ThreadPair(editing)
  readonly answers: unknown[] = []
  #started = 0

  async notify(act: Act, number: number, fate: Fate): Promise<void> {
    this.pair.fate = fate
    try {
      this.answers.push(await this.#do(act, number))
    } catch (error) {
      this.answers.push(HeddleError.from(error).code)
    }
    // A fate that did not come true has ended.
    this.pair.fate = 'none'
    await settled()
  }

  async #do(act: Act, number: number): Promise<unknown> {
    const { client } = this.pair
    const edit = { values: String(number), command: null, asNode: null }
    switch (act.do) {
      case 'create':
      case 'create with steps': {
        const supersteps = act.do === 'create' ? [] : [[edit]]
        const metadata = { graph_id: 'agent', made: number }
        return seen(
          await client.create('t', { threadId: 'x', metadata, ifExists: 'raise', supersteps }),
        )
      }
      case 'patch':
        return seen(await client.patch('t', 'x', { value: act.value }))
      // If nothing is left of the thread, a repeated delete cannot know: both answers are right.
      case 'delete':
        return client.delete('t', 'x').catch(ignoreNotFound)
      case 'copy':
        return seen(await client.copy('t', 'x'))
      case 'edit': {
        const answer = await client.updateState('t', 'x', { update: edit, checkpoint: null })
        const { checkpoint_id: checkpointId } = JSON.parse(answer) as { checkpoint_id: string }
        return (await client.get('t', 'x')).row.head?.id === checkpointId
      }
      case 'start': {
        const run = aRun(runId(this.#started++), { strategy: act.strategy, ifMissing: 'reject' })
        return (await client.startRun('t', 'x', run) as { runId: string }).runId
      }
      case 'cancel': {
        const cancel = { action: act.action }
        return client.cancelRun('t', 'x', this.#picked(act.pick), cancel)
      }
      case 'delete run':
        return client.deleteRun('t', 'x', this.#picked(act.pick))
    }
  }

  #picked(back: number): string {
    return runId(this.#started - 1 - back)
  }

  /** Ends the current run and those that are queued behind it. */
  async finish(): Promise<void> {
    for (;;) {
      await settled()
      const { host } = this.pair
      const [scripted] = host.running.values()
      if (!scripted) return
      await endAfter(host, scripted, `run ${scripted.execution.runId}`)
    }
  }

  async end(): Promise<unknown> {
    const { client, tables } = this.pair
    const query = { tenant: 't', threadId: 'x', limit: 100, offset: 0 }
    const rows = await tables.threads.search({} as never)
    return {
      answers: this.answers,
      threads: rows.rows.filter(({ deleted }) => !deleted).length,
      thread: await client.get('t', 'x').then(seen, () => 'none'),
      runs: await client.listRuns(query).then(
        (runs) => runs.map((run) => [run.runId, run.status]),
        () => 'none',
      ),
    }
  }
}

function ignoreNotFound(error: unknown): void {
  if (HeddleError.from(error).code !== 'not_found') throw error
}

function seen({ row, values }: ThreadView): unknown {
  return [row.metadataJson, row.status, values]
}

async function noted(script: readonly (readonly [Act, Fate])[], fated: boolean): Promise<unknown> {
  const story = new Story()
  await story.notify({ do: 'create' }, 0, 'none')
  for (const [at, [act, fate]] of script.entries()) {
    await story.notify(act, at + 1, fated ? fate : 'none')
    // A dying owner costs the run an attempt, of which it has three.
    if (at % 2 === 1) await story.finish()
  }
  await story.finish()
  return story.end()
}

describe('commands whose owner dies before it has answered', () => {
  it('leave the thread as if each had arrived once, and give the same answers', async () => {
    const script = fc.array(fc.tuple(acts, fates), { maxLength: 14 })
    await expectAlways(fc.asyncProperty(script, async (script) => {
      expect(await noted(script, true)).toEqual(await noted(script, false))
    }), { share: 5 })
  })

  it('are answered as done if they deleted the thread and nothing of it is left', async () => {
    const { pair } = new Story()
    await pair.client.create('t', { threadId: 'x', metadata: {}, ifExists: 'raise',
      supersteps: [] })
    pair.fate = 'silent'
    await pair.client.delete('t', 'x')
    expect(pair.log.rows).toEqual([])
    await expect(pair.client.delete('t', 'x')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('do not delete a thread that was created again before the retry arrived', async () => {
    const { pair } = new Story()
    const create = (made: string) =>
      pair.client.create('t', { threadId: 'x', metadata: { made }, ifExists: 'raise',
        supersteps: [] })
    await create('first')
    const kill = pair.kill.bind(pair)
    let again: Promise<ThreadView> | undefined
    pair.kill = () => {
      kill()
      again = create('again')
    }
    pair.fate = 'silent'
    await pair.client.delete('t', 'x')
    expect(await again).toMatchObject({ row: { metadataJson: '{"made":"again"}' } })
    expect(await pair.client.get('t', 'x')).toEqual(await again)
  })

  it('are remembered in a bounded number', async () => {
    const { pair } = new Story()
    await pair.client.create('t', { threadId: 'x', metadata: {}, ifExists: 'raise',
      supersteps: [] })
    for (let i = 0; i < 150; i++) await pair.client.patch('t', 'x', { i })
    expect((await pair.tables.threads.get('t', 'x'))?.applied).toHaveLength(128)
  })
})
