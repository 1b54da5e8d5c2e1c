/** The records of replays, and the verdicts beside them. */

import { HeddleError } from '../../errors.ts'
import { differenceGroups, verdictCounts } from '../../graph/index.ts'
import { recordsOf, replayCatalog, verdictPlace } from '../records/record-places.ts'
import { removeReplay } from '../records/replay-removal.ts'
import type { ReplayStores } from '../records/replay-removal.ts'
import { replayOf, replayRecord } from './replay-record.ts'
import type { Replay, ReplayPhase, ReplayView, RunVerdict } from './replay-record.ts'
import type { ReplayedVerdict } from './replay-run.ts'
import { summedUsage } from './replay-usage.ts'

/** Values of a run as JSON texts; undefined where they are not known or too long. */
type KeptValues = Pick<ReplayedVerdict, 'input' | 'expected' | 'actual'>

/** A verdict with the values of its run. */
export interface KeptVerdict extends KeptValues {
  readonly verdict: RunVerdict
}

/** Characters of a value that is kept. */
const valueMax = 48 * 1024
/** Replays of a deployment that are kept. */
const keptMax = 20

/** A change of a replay. */
export type ReplayChange = Partial<
  & { readonly phase: Exclude<ReplayPhase, 'running'> }
  & Pick<Replay, 'reason' | 'endedAtMs' | 'runner' | 'chosen' | 'passed' | 'experiment'>
>

/** Reads and writes replays. */
export class StoredReplays {
  readonly #parts: ReplayStores

  constructor(parts: ReplayStores) {
    this.#parts = parts
  }

  /**
   * Adds one, and removes the oldest of its deployment above the number that is kept. `exists` if
   * one of the deployment is under way: that has the name which this one needs.
   */
  async add(replay: Replay): Promise<void> {
    const all = await this.list(replay.deploymentId)
    for (const { id } of all.slice(keptMax - 1)) await removeReplay(this.#parts, id)
    await this.#parts.catalogs.create(replayCatalog, replayRecord(replay))
  }

  /** Those of a deployment, the newest first. */
  async list(deploymentId: string): Promise<readonly Replay[]> {
    const records = await recordsOf(this.#parts.catalogs, replayCatalog, {
      parentIds: [deploymentId],
      sortBy: 'created',
      descending: true,
    })
    return records.map(replayOf)
  }

  async get(id: string): Promise<Replay | undefined> {
    const [record] = await this.#parts.catalogs.get(replayCatalog, [id])
    return record && replayOf(record)
  }

  /** Changes one that is under way, and whose runner is this. `stale` otherwise. */
  async change({ id, runner }: Pick<Replay, 'id' | 'runner'>,
    change: ReplayChange): Promise<Replay> {
    return replayOf(
      await this.#parts.catalogs.change(replayCatalog, id, {
        ...change.phase && { name: id },
        bodyJson: JSON.stringify({ ...change, ...change.chosen && { hasChosen: true } }),
        expected: { phase: 'running', runner },
      }),
    )
  }

  async addVerdict(id: string, { verdict, ...values }: ReplayedVerdict): Promise<void> {
    const documents = { verdict, values: shortened(values) }
    await this.#parts.documents.putDocuments(verdictPlace(id),
      Object.entries(documents).map(([kind, value]) => ({ key: `${kind}/${verdict.runId}`,
        body: Buffer.from(JSON.stringify(value)) })
      ))
  }

  /** In the order of the ids of their runs. */
  verdicts(id: string): Promise<readonly RunVerdict[]> {
    return this.#documents<RunVerdict>(id, 'verdict')
  }

  /** The verdicts with the values of their runs. */
  async kept(id: string): Promise<readonly KeptVerdict[]> {
    const values = await this.#documents<KeptValues>(id, 'values')
    return (await this.verdicts(id)).map((verdict, at) => ({ ...values[at]!, verdict }))
  }

  async #documents<Value>(id: string, kind: string): Promise<readonly Value[]> {
    const found: Value[] = []
    // The character behind the slash ends the kind.
    for (let after = `${kind}/`;;) {
      const page = await this.#parts.documents.listDocuments(verdictPlace(id), { after,
        before: `${kind}0`, limit: 200 })
      if (page.length === 0) return found
      found.push(...page.map(({ body }) => JSON.parse(Buffer.from(body).toString()) as Value))
      after = page.at(-1)!.key
    }
  }

  /** The replay with sums of its verdicts. */
  async view(replay: Replay): Promise<ReplayView> {
    const all = await this.verdicts(replay.id)
    return { replay, done: all.length, counts: verdictCounts(all), groups: differenceGroups(all),
      usage: summedUsage(all) }
  }
}

function shortened({ input, expected, actual }: KeptValues): KeptValues {
  const short = (text: string | undefined) =>
    text !== undefined && text.length <= valueMax ? text : undefined
  return { input: short(input) ?? '{}', expected: short(expected), actual: short(actual) }
}

/** The error for a replay that is not there. */
export function noReplay(): HeddleError {
  return new HeddleError('not_found', 'There is no such replay.')
}
