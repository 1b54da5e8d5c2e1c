/** Workers that write records: state edits, metadata, copies, deletes, assistants. */

import { randomUUID } from 'node:crypto'
import type { Client } from '@langchain/langgraph-sdk'
import { expect } from 'vitest'
import { say, texts } from '../../support/run-events.ts'
import { absent } from './chat-workers.ts'
import { settle } from './worker.ts'
import type { LoadWorker } from './worker.ts'

/** Adds one to the state of a thread by an edit, and counts along in its metadata. */
export class Editor implements LoadWorker {
  readonly name = 'editor'
  readonly #threadId = randomUUID()
  #total = 0
  #count = 0
  #doing: 'nothing' | 'making' | 'editing' | 'patching' = 'nothing'
  #made = false

  async act(client: Client): Promise<void> {
    if (!this.#made) {
      this.#doing = 'making'
      await client.runs.wait(this.#threadId, 'counter', { input: { by: 0 }, ifNotExists: 'create',
        multitaskStrategy: 'enqueue' })
      this.#made = true
    }
    this.#doing = 'editing'
    await client.threads.updateState(this.#threadId, { values: { total: 1 }, asNode: 'add' })
    this.#total += 1
    this.#doing = 'patching'
    await client.threads.update(this.#threadId, { metadata: { count: this.#count + 1 } })
    this.#count += 1
    this.#doing = 'nothing'
  }

  async check(client: Client): Promise<void> {
    if (await client.threads.get(this.#threadId).catch(absent) === undefined) return
    await settle(client, this.#threadId)
    if (!this.#made) return
    const { metadata, values } = await client.threads.get(this.#threadId)
    const { total } = values as { total: number }
    const count = Number(metadata?.['count'] ?? 0)
    expect(total - this.#total).toBeOneOf(this.#doing === 'editing' ? [0, 1] : [0])
    expect(count - this.#count).toBeOneOf(this.#doing === 'patching' ? [0, 1] : [0])
    this.#total = total
    this.#count = count
    this.#doing = 'nothing'
  }
}

/** Copies a growing thread, runs on the copies, deletes some of them. */
export class Copier implements LoadWorker {
  readonly name = 'copier'
  readonly #sourceId = randomUUID()
  #said = 0
  /** By existing copy: how many messages had been sent to the source when it was made. */
  readonly #copies = new Map<string, number>()
  readonly #deleted: string[] = []
  #deleting: string | undefined
  #saying = false

  async act(client: Client): Promise<void> {
    this.#saying = true
    await client.runs.wait(this.#sourceId, 'echo', { input: say(`s${this.#said}`),
      ifNotExists: 'create' })
    this.#said += 1
    this.#saying = false
    const copy = await client.threads.copy(this.#sourceId)
    this.#copies.set(copy.thread_id, this.#said)
    if (this.#copies.size > 8) await this.#delete(client)
  }

  async #delete(client: Client): Promise<void> {
    const [id] = this.#copies.keys()
    this.#deleting = id!
    await client.threads.delete(id!)
    this.#copies.delete(id!)
    this.#deleted.push(id!)
    this.#deleting = undefined
  }

  async check(client: Client): Promise<void> {
    if (await client.threads.get(this.#sourceId).catch(absent) === undefined) {
      expect(this.#said).toBe(0)
      return
    }
    await settle(client, this.#sourceId)
    const said = texts((await client.threads.get(this.#sourceId)).values).length / 2
    expect(said - this.#said).toBeOneOf(this.#saying ? [0, 1] : [0])
    this.#said = said
    this.#saying = false
    for (const [id, count] of this.#copies) {
      const copy = await client.threads.get(id).catch(absent)
      if (copy === undefined && id === this.#deleting) {
        this.#copies.delete(id)
        continue
      }
      expect(texts(copy?.values)).toHaveLength(count * 2)
      expect((await client.threads.getHistory(id, { limit: 1_000 })).length).toBe(count * 3)
    }
    this.#deleting = undefined
    for (const id of this.#deleted) {
      expect(await client.threads.get(id).catch(absent)).toBeUndefined()
    }
  }
}

/** Updates an assistant, makes older versions active, creates more assistants. */
export class Keeper implements LoadWorker {
  readonly name = 'keeper'
  readonly #id = randomUUID()
  #made = false
  #version = 0
  #active = 0
  #doing: 'nothing' | 'updating' | 'choosing' = 'nothing'

  async act(client: Client): Promise<void> {
    if (!this.#made) {
      await client.assistants.create({ assistantId: this.#id, graphId: 'configured',
        context: { model_name: 'v1' }, ifExists: 'do_nothing' })
      this.#made = true
      this.#version = this.#active = 1
    }
    this.#doing = 'updating'
    const updated = await client.assistants.update(this.#id, {
      context: { model_name: `v${this.#version + 1}` },
    })
    this.#version = this.#active = updated.version
    this.#doing = 'choosing'
    await client.assistants.setLatest(this.#id, 1)
    this.#active = 1
    this.#doing = 'nothing'
  }

  async check(client: Client): Promise<void> {
    if (!this.#made) return
    const found = await client.assistants.get(this.#id)
    const versions = await client.assistants.getVersions(this.#id, { limit: 1_000 })
    const newest = versions[0]!.version
    expect(versions.map(({ version }) => version))
      .toEqual(Array.from({ length: newest }, (_, index) => newest - index))
    expect(newest - this.#version).toBeOneOf(this.#doing === 'updating' ? [0, 1] : [0])
    expect(found.version).toBeOneOf(
      this.#doing === 'updating'
        ? [this.#active, newest]
        : this.#doing === 'choosing'
        ? [this.#active, 1]
        : [this.#active],
    )
    expect(found.context).toEqual({ model_name: `v${found.version}` })
    this.#version = newest
    this.#active = found.version
    this.#doing = 'nothing'
  }
}
