/** Assistants over a log in memory: one actor per assistant, one turn at a time. */

import type { Actor, Env, Router } from '../../../cluster/index.ts'
import type { AssistantRow, Branch } from '../../../proto/gen/storage/v1/row.ts'
import type { AssistantCommand } from '../../../src/assistants/assistant-actor.ts'
import { assistantClient, assistantKind } from '../../../src/assistants/index.ts'
import type { AssistantClient } from '../../../src/assistants/index.ts'
import type { PurgeSubject } from '../../../src/checkpoint/index.ts'
import { HeddleError } from '../../../src/errors.ts'
import { contains } from '../../../src/json/containment.ts'
import { ReadQuota } from '../../../src/limits/read-quota.ts'
import type { AssistantIndex, AssistantQuery } from '../../../src/search/index.ts'
import { MemoryLog } from '../../support/memory-log.ts'

export class AssistantLogTwin extends MemoryLog {
  /** How many rows a purge leaves that crashes; undefined if purges do not crash. */
  leftOnPurge: number | undefined
  readonly #dead = new Set<string>()

  override async open(branch: Branch, epoch: number): Promise<void> {
    if (this.#dead.has(branch.id)) throw new HeddleError('stale_append', undefined, { dead: true })
    await super.open(branch, epoch)
  }

  override async purge(subject: PurgeSubject): Promise<void> {
    if (this.leftOnPurge !== undefined) {
      this.#dead.add(subject.branch.id)
      this.rows.length = Math.min(this.rows.length, this.leftOnPurge)
      throw new Error('the process died here')
    }
    await super.purge(subject)
    const { rows, updates } = this
    const kept = rows.filter(({ branch }) => branch.id !== subject.branch.id)
    rows.splice(0, rows.length, ...kept)
    const left = updates.filter((update) =>
      !(update.table === 'assistant' && update.row.assistantId === subject.id)
    )
    updates.splice(0, updates.length, ...left)
  }
}

export interface AssistantHouse {
  readonly log: AssistantLogTwin
  readonly index: AssistantIndex
  readonly assistants: AssistantClient
  /** Forgets every activation, as a new start of the process does. */
  restart(): void
  /**
   * The answer to the next change is lost with its owner. The caller then asks the next owner;
   * `asked`, if given, reaches that before.
   */
  loseAnswer(asked?: AssistantCommand): void
}

export function assistantHouse(env: Env, reads = new ReadQuota(env)): AssistantHouse {
  const log = new AssistantLogTwin()
  const index = indexOver(log)
  const kind = assistantKind({ log, index, env, reads })
  let epoch = 1
  let actors = new Map<string, Promise<Actor>>()
  let turns = new Map<string, Promise<unknown>>()
  let losing: { readonly asked: AssistantCommand | undefined } | undefined
  const restart = () => {
    epoch += 1
    actors = new Map()
    turns = new Map()
  }
  const activate = async (tenant: string, id: string) => {
    const fail = () => actors.delete(id)
    const key = { kind: kind.name, tenant, id }
    const actor = kind.create({ key, epoch, notify: () => {}, sleep: () => {}, fail })
    await actor.activate()
    return actor
  }
  const router: Router = {
    ask: ({ tenant, id }, command) => {
      const commandId = env.uuid()
      const once = async (seen = command, sentId = commandId) => {
        if (!actors.has(id)) actors.set(id, activate(tenant, id))
        const actor = await actors.get(id)!
        return (await actor.receive(seen, sentId)).reply
      }
      const turn = async () => {
        if (!losing || (command as AssistantCommand).kind === 'get') return await once()
        const { asked } = losing
        losing = undefined
        await once().catch(() => {})
        restart()
        if (asked) await once(asked, env.uuid())
        return await once().catch((error: unknown) => {
          const { code, message } = HeddleError.from(error)
          throw new HeddleError(code, message, { again: true })
        })
      }
      const mine = (turns.get(id) ?? Promise.resolve()).catch(() => {}).then(turn)
      turns.set(id, mine)
      return mine
    },
    follow: () => Promise.reject(new Error('nobody follows an assistant')),
  }
  return {
    log,
    index,
    assistants: assistantClient(router),
    restart,
    loseAnswer: (asked) => {
      losing = { asked }
    },
  }
}

function indexOver(log: MemoryLog): AssistantIndex {
  const rowsOf = (tenant: string): AssistantRow[] => {
    const rows = log.updates.flatMap((update) => update.table === 'assistant' ? [update.row] : [])
    const latest = new Map(rows.map((row) => [row.assistantId, row]))
    return [...latest.values()].filter((row) => row.tenant === tenant)
  }
  const found = ({ tenant, graphId, name, metadata }: Partial<AssistantQuery>) =>
    rowsOf(tenant!).filter((row) =>
      (graphId === undefined || row.graphId === graphId) &&
      row.name.toLowerCase().includes((name ?? '').toLowerCase()) &&
      contains(JSON.parse(row.metadataJson), metadata ?? {})
    )
  return {
    get: async (tenant, id) => rowsOf(tenant).find((row) => row.assistantId === id),
    search: async (query) => {
      const rows = found(query)
      return { rows: rows.slice(query.offset, query.offset + query.limit), total: rows.length }
    },
    count: async (filter) => found(filter).length,
  }
}
