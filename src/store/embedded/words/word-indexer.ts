/** Puts spans into the index of words while little else is to be done, in slices. */

import { LRUCache } from '../../../../cluster/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import { openBlock, payloadOf, wordsOfSpan } from '../../../platform/index.ts'
import type { BlockId, PayloadPart, SpanHead } from '../../../platform/index.ts'
import type { Database } from '../file/database.ts'
import { indexedText } from './word-index.ts'

/** Milliseconds of a slice, and between slices when nothing was written lately. */
const [sliceMs, idleMs] = [8, 2]
/**
 * Milliseconds between slices when something was: so many times what the slice took with its
 * commit, so that writes keep nine tenths of the time; not less, and not more.
 */
const [busyShare, busyMinMs, busyMaxMs] = [9, 40, 1_000]
/** Time for which a write is lately. */
const latelyMs = 500
/** Time that new spans wait to be indexed together, and after a failure. */
const [togetherMs, failedMs] = [50, 60_000]
/** Spans that are read at a time. */
const spansAtOnce = 32
/** Bytes of opened blocks that are kept for the next spans. */
const keptBytes = 8 * 1024 * 1024
/** A number above those of all spans. */
const everMore = Number.MAX_SAFE_INTEGER

/** Connection, clock and switch of an indexer. */
export interface WordIndexerParts {
  readonly database: Database
  readonly spans: NumberedSpans
  /** Queue of all other changes to the file. */
  readonly queue: { readonly isIdle: boolean; readonly isClosed: boolean }
  readonly env: Env
  /** False: there is no index, and what there was of it goes. */
  readonly isOn: boolean
}

/** A span as the file numbers it. */
export interface NumberedSpan {
  readonly no: number
  readonly project: number
  readonly tenant: number
  readonly trace: Uint8Array
  readonly head: Pick<SpanHead, 'id' | 'name' | 'blocks'>
}

/** Port that finds spans by their numbers. */
export interface NumberedSpans {
  /** The first of them from … to …, by their numbers. */
  numbered(first: number, last: number, limit: number): readonly NumberedSpan[]
}

/** The indexer of the one thread that writes. */
export class WordIndexer {
  readonly #parts: WordIndexerParts
  readonly #opened = new LRUCache<string, readonly PayloadPart[]>({ maxSize: keptBytes })
  #stopTimer: (() => void) | undefined
  #writtenMs = -Infinity

  constructor(parts: WordIndexerParts) {
    this.#parts = parts
    this.#again(togetherMs)
  }

  /** Something is about to be written. */
  wake(): void {
    this.#writtenMs = this.#parts.env.monotonicMs()
    this.#again(togetherMs)
  }

  close(): void {
    this.#stopTimer?.()
  }

  #again(ms: number): void {
    if (this.#parts.queue.isClosed) return
    this.#stopTimer ??= this.#parts.env.after(ms, () => {
      this.#stopTimer = undefined
      this.#step()
    })
  }

  /** A slice is a commit that waits for no disk: what a crash takes of it is indexed again. */
  #step(): void {
    const { database, queue, env, isOn } = this.#parts
    if (queue.isClosed) return
    const beganMs = env.monotonicMs()
    try {
      const isDone = database.transaction(() => isOn ? this.#indexSome() : this.#drop(), false)
      database.tidy()
      const endedMs = env.monotonicMs()
      const isBusy = !queue.isIdle || endedMs - this.#writtenMs < latelyMs
      const busyMs = Math.max(busyMinMs, Math.min(busyMaxMs, busyShare * (endedMs - beganMs)))
      if (isDone) this.#opened.clear()
      else this.#again(isBusy ? busyMs : idleMs)
    } catch (error) {
      env.log.warn('Words of traces cannot be indexed right now.', { error })
      this.#again(failedMs)
    }
  }

  /** Indexes spans for a slice. Returns true if none is left. */
  #indexSome(): boolean {
    const { database, env } = this.#parts
    const endMs = env.monotonicMs() + sliceMs
    const next = database.prepare<[number, number]>(
      'SELECT first, last FROM unworded ORDER BY first LIMIT 1',
    )
    while (env.monotonicMs() < endMs) {
      const range = next.get()
      if (range === undefined) return true
      this.#shorten(range, this.#indexFrom(range, endMs))
    }
    return false
  }

  /** Indexes the first spans of a range. Returns the number behind them. */
  #indexFrom([first, last]: readonly [number, number], endMs: number): number {
    const { database, spans, env } = this.#parts
    const found = spans.numbered(first, last, spansAtOnce)
    const put = database.prepare('INSERT OR REPLACE INTO word (rowid, text) VALUES (?, ?)')
    for (const span of found) {
      put.run(span.no, indexedText(span.project, this.#wordsOf(span)))
      if (env.monotonicMs() >= endMs) return span.no + 1
    }
    return found.length < spansAtOnce ? Infinity : found.at(-1)!.no + 1
  }

  #shorten([first, last]: readonly [number, number], from: number): void {
    const { database } = this.#parts
    database.prepare('DELETE FROM unworded WHERE first = ?').run(first)
    if (from > last) return
    database.prepare(`INSERT INTO unworded VALUES (?, ?)
      ON CONFLICT DO UPDATE SET last = max(last, excluded.last)`).run(from, last)
  }

  #wordsOf({ tenant, trace, head: { id, name, blocks } }: NumberedSpan):
    | ReadonlySet<string>
    | undefined {
    const parts = blocks.flatMap((block) =>
      this.#partsOf(tenant, trace, block).filter(({ span }) => span === id)
    )
    return wordsOfSpan(name, payloadOf(parts))
  }

  #partsOf(tenant: number, trace: Uint8Array, block: BlockId): readonly PayloadPart[] {
    const key = `${tenant} ${block}`
    const known = this.#opened.get(key)
    if (known !== undefined) return known
    const row = this.#parts.database.prepare<[Uint8Array]>(
      'SELECT data FROM block WHERE tenant = ? AND trace = ? AND id = ?',
    ).get(tenant, trace, block)
    const parts = row === undefined ? [] : partsIn(row[0])
    this.#opened.set(key, parts, { size: 1 + (row?.[0].byteLength ?? 0) * 4 })
    return parts
  }

  /** Empties the index: all spans, also those to come, are noted as missing in it. */
  #drop(): boolean {
    const { database } = this.#parts
    const [known] = database.prepare<[number]>(
      'SELECT count(*) FROM unworded WHERE first <= 0 AND last = ?',
    ).get(everMore)!
    if (known > 0) return true
    database.prepare("INSERT INTO word (word) VALUES ('delete-all')").run()
    database.prepare('DELETE FROM unworded').run()
    database.prepare('INSERT INTO unworded VALUES (0, ?)').run(everMore)
    return true
  }
}

/** Parts of a block; none if it cannot be opened, so that it does not hold up the rest. */
function partsIn(data: Uint8Array): readonly PayloadPart[] {
  try {
    return openBlock(data)
  } catch {
    return []
  }
}
