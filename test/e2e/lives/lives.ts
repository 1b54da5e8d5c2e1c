/** Plays lives on threads of a server and on twins in process, and compares them at each event. */

import { AssertionError } from 'node:assert'
import { expect, it } from 'vitest'

import type { ServedGraph } from '../../../src/graph/project/graph-export.ts'
import { useGates } from '../../support/gate.ts'
import type { Gate } from '../../support/gate.ts'
import { hoarding, narrow, roaming } from '../../support/projects/lives/roaming.ts'
import { useServer } from '../../support/server.ts'
import type { ServerInUse } from '../../support/server.ts'
import { lifeOf, partsOfLife } from './life.ts'
import type { Event, Life, RunPlan } from './life.ts'
import { edit, look, lookBack, refused } from './place.ts'
import type { Place, Ran } from './place.ts'
import { Served } from './served.ts'
import { Twin } from './twin.ts'
import { failedOfMany, requireSame, Names } from './view.ts'

interface World {
  readonly server: ServerInUse
  readonly gate: () => Gate
}
interface Held {
  readonly run: RunPlan
  readonly node: string
}
interface Pair {
  readonly served: Served
  readonly twin: Twin
}

const graphs = { roaming, hoarding, narrow } as unknown as Record<Life['graph'], ServedGraph>
const copiesMax = 3
/** Lives that share the restarts of a server. */
const together = 30
const nothing: Ran = { parts: [], result: {} }

/** HEDDLE_LIVES_SEED overrides the first seed, and HEDDLE_LIVES the count. */
export function itLives(first: number, count: number): void {
  const server = useServer({ project: 'lives', args: ['--drain-ms', '200', '--log-level', 'warn'] })
  const gate = useGates()
  const { HEDDLE_LIVES_SEED: seed, HEDDLE_LIVES: wanted = seed === undefined ? count : 1 } =
    process.env
  const seeds = Array.from({ length: Number(wanted) }, (_, n) => Number(seed ?? first) + n)
  it(`${wanted} threads live as in process, seeds from ${seeds[0]}`, async () => {
    const found: string[] = []
    for (let from = 0; from < seeds.length; from += together) {
      found.push(...await liveTogether(seeds.slice(from, from + together), { server, gate }))
    }
    if (found.length > 0) expect.fail(found.join('\n\n'))
  })
}

/** The differences of lives that went otherwise on the server than in process. */
async function liveTogether(seeds: readonly number[], world: World): Promise<string[]> {
  const lives = seeds.map((seed) => new Living(lifeOf(seed), world))
  for (let part = 0; part < partsOfLife; part++) {
    if (part > 0) await restart(world.server, part % 2 === 1 ? 'SIGKILL' : 'SIGTERM')
    await Promise.all(lives.map((life) => life.part(part)))
  }
  return lives.flatMap(({ found }) => found ?? [])
}

async function restart({ process }: ServerInUse, signal: NodeJS.Signals): Promise<void> {
  await process.kill(signal)
  await process.restart()
}

function isOutOfSteps({ parts }: Ran): boolean {
  return JSON.stringify(parts.at(-1) ?? '').includes('GraphRecursionError')
}

/** One life. It ends at the first difference. */
class Living {
  readonly #life: Life
  readonly #world: World
  readonly #pairs: Pair[] = []
  readonly #names = { served: new Names(), twin: new Names() }
  /** Finishes a run that the restart of the server interrupted. */
  #after: (() => Promise<void>) | undefined
  #hasEnded = false
  found: string | undefined

  constructor(life: Life, world: World) {
    this.#life = life
    this.#world = world
  }

  async part(part: number): Promise<void> {
    if (part === 0) await this.#step('the begin', () => this.#begin())
    if (this.#after) await this.#step('the end of what was cut short', this.#after)
    this.#after = undefined
    for (const event of this.#life.parts[part]!) {
      await this.#step(JSON.stringify(event), () => this.#live(event))
    }
    if (part === partsOfLife - 1) await this.#step('looking back', () => this.#lookBack())
  }

  async #step(what: string, act: () => Promise<void>): Promise<void> {
    if (this.#hasEnded) return
    try {
      await act()
    } catch (error) {
      const { seed, graph } = this.#life
      const { message, stack } = error as Error
      this.#hasEnded = true
      this.found = `HEDDLE_LIVES_SEED=${seed} (${graph}), after ${what}:\n${
        error instanceof AssertionError ? message : stack
      }`
    }
  }

  async #begin(): Promise<void> {
    const { graph: graphId } = this.#life
    const { client } = this.#world.server
    const { thread_id: id } = await client.threads.create({ graphId })
    this.#pairs.push({
      served: new Served(client, graphId, id),
      twin: new Twin(graphs[graphId], id),
    })
  }

  async #live(event: Event): Promise<void> {
    const pair = this.#pairs[event.on % this.#pairs.length]!
    const { served, twin } = pair
    switch (event.deed) {
      case 'run':
        return this.#compare(pair, await served.run(event.run), await twin.run(event.run))
      case 'edit':
        return this.#compare(pair, await edit(served, event.edit), await edit(twin, event.edit))
      case 'copy':
        return this.#copy(pair)
      case 'undo': {
        const gate = this.#world.gate()
        const { runId, arrived } = await served.begin(event.run, event.node, gate)
        if (!arrived) return this.#compareHeld(pair, event, runId, gate)
        await served.undo(runId)
        return this.#compare(pair, nothing, nothing)
      }
      case 'crash': {
        const gate = this.#world.gate()
        const { runId } = await served.begin(event.run, event.node, gate)
        this.#after = () => this.#compareHeld(pair, event, runId, gate)
      }
    }
  }

  /** Who is held comes later than who is not: in process as well. */
  async #compareHeld(pair: Pair, { run, node }: Held, runId: string, gate: Gate): Promise<void> {
    gate.open()
    const [one, other] = [await pair.served.ended(runId),
      await pair.twin.run(run, { hold: { node, url: gate.url } })]
    // Intended: each attempt has the whole step limit for itself.
    if (isOutOfSteps(other)) this.#hasEnded = true
    if (this.#hasEnded) return
    // Intended: with durability exit, events reach only readers that are connected.
    const received = (ran: Ran) => (run.durability === 'exit' ? { ...ran, parts: [] } : ran)
    return this.#compare(pair, received(one), received(other))
  }

  async #copy({ served, twin }: Pair): Promise<void> {
    if (this.#pairs.length === copiesMax) return
    const copy = await served.copy()
    this.#pairs.push({ served: copy, twin: twin.copy(copy.id) })
  }

  async #compare(pair: Pair, served: Ran, twin: Ran): Promise<void> {
    const seen = await this.#compareSeen(pair, look)
    // If tasks wrote values that cannot be combined, the state cannot be read: the life ends.
    if (seen === refused) this.#hasEnded = true
    if (this.#hasEnded || failedOfMany(served, twin)) return
    requireSame(this.#names.served.seen(served), this.#names.twin.seen(twin))
  }

  async #lookBack(): Promise<void> {
    for (const pair of this.#pairs) await this.#compareSeen(pair, lookBack)
  }

  async #compareSeen({ served, twin }: Pair,
    see: (place: Place) => Promise<unknown>): Promise<unknown> {
    const seen = this.#names.served.of(await see(served))
    requireSame(seen, this.#names.twin.of(await see(twin)))
    return seen
  }
}
