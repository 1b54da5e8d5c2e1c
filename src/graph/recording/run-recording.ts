/** Records the calls of one execution, and hands them over in blocks. */

import type { Call } from '../calls/call.ts'
import type { CallDecision, CallGate } from '../calls/call-gate.ts'
import type { HideSecrets } from './hidden-bytes.ts'
import { CallWatch } from './call-watch.ts'
import type { WatchedCall } from './call-watch.ts'
import { encodeBlock } from './recording.ts'
import type { RecordedBlock, RecordedBody, RecordedCall } from './recording.ts'
import { recordingMax } from './recording-room.ts'

/** Bytes of ended calls that are handed over together: as sent, and without compression. */
const [blockBytes, plainBlockBytes] = [1024 * 1024, 16 * 1024 * 1024]

/** The members that all blocks of an execution share. */
export type RecordedRun = Pick<RecordedBlock,
  'runId' | 'threadId' | 'graphId' | 'attempt' | 'start' | 'startedAtMs'>

/** Bytes of a stateless run; undefined if it cannot be stored. */
export type PackedRun = Uint8Array | undefined | Promise<Uint8Array | undefined>

/** Room, clocks and the way out of a recording. */
export interface RunRecordingParts
  extends Pick<WatchedCall, 'room' | 'secrets' | 'nowMs' | 'monotonicMs'> {
  /**
   * Hands a block over; the label of the run with the last one. Resolves when it is kept or lost;
   * never rejects.
   */
  readonly send: (no: number, packed: Uint8Array, label?: string) => Promise<void>
  /** Redacts a call with code of the project; missing if the project brings none. */
  readonly mask?: ((call: RecordedCall) => Promise<RecordedCall>) | undefined
}

/**
 * The gate of one execution: lets each call pass and watches it. A body without room is dropped,
 * and calls above their number are not recorded; the recording says that it is cut then.
 */
export class RunRecording implements CallGate {
  readonly #run: RecordedRun
  readonly #parts: RunRecordingParts
  readonly #open = new Set<CallWatch>()
  readonly #ofTask = new Map<string, number>()
  #calls = 0
  #blocks = 0
  #isCut = false
  #isEnded = false
  #ready: RecordedCall[] = []
  #readyBytes = 0
  #plainBytes = 0
  /** The end of all work so far, which is done in turn. */
  #work: Promise<void> = Promise.resolve()

  constructor(run: RecordedRun, parts: RunRecordingParts) {
    this.#run = run
    this.#parts = parts
  }

  readonly decide = (call: Call): CallDecision => {
    if (this.#isEnded) return { kind: 'pass' }
    if (this.#calls >= recordingMax.runCalls) {
      this.#isCut = true
      return { kind: 'pass' }
    }
    const watcher = new CallWatch({ ...this.#parts, call, no: this.#calls++,
      ordinal: this.#ordinalOf(call), ended: () => this.#take(watcher) })
    this.#open.add(watcher)
    return { kind: 'pass', watcher }
  }

  /**
   * Hands over the rest. Calls that go on are recorded as they are. `run` and `label` are those of
   * a stateless one; the run counts as its bodies do.
   */
  ended(run?: (hide: HideSecrets) => PackedRun, label?: string): Promise<void> {
    this.#isEnded = true
    for (const watch of this.#open) this.#take(watch)
    if (this.#calls > 0) {
      this.#do(async () =>
        this.#hand(true, run && this.#keptRun(await run(this.#parts.secrets.hide)), label)
      )
    }
    return this.#work
  }

  #keptRun(bytes: Uint8Array | undefined): Uint8Array | undefined {
    if (bytes !== undefined && this.#parts.room.take(bytes.byteLength)) {
      this.#readyBytes += bytes.byteLength
      return bytes
    }
    this.#isCut = true
    return undefined
  }

  #ordinalOf({ site }: Call): number {
    const task = site ? `${site.taskId} ${site.attempt}` : ''
    const before = this.#ofTask.get(task) ?? 0
    this.#ofTask.set(task, before + 1)
    return before
  }

  #take(watch: CallWatch): void {
    if (!this.#open.delete(watch)) return
    watch.close()
    this.#do(async () => {
      const seen = await watch.recorded()
      const call = await this.#parts.mask?.(seen) ?? seen
      this.#ready.push(call)
      this.#readyBytes += watch.bytes
      this.#plainBytes += bytesIn(call.request) + bytesIn(call.answer)
      this.#isCut ||= call.request.isCut || call.answer.isCut
      const isFull = this.#readyBytes >= blockBytes || this.#plainBytes >= plainBlockBytes
      if (isFull) await this.#hand(false)
    })
  }

  async #hand(isLast: boolean, run?: Uint8Array, label?: string): Promise<void> {
    const [calls, bytes] = [this.#ready, this.#readyBytes]
    this.#ready = []
    this.#readyBytes = this.#plainBytes = 0
    const no = this.#blocks++
    try {
      const packed = await encodeBlock({ ...this.#run, no, isLast, isCut: this.#isCut,
        node: process.version, calls, ...run && { run } })
      // The next calls do not wait for the store.
      void this.#parts.send(no, packed, label).finally(() => this.#parts.room.written(bytes))
    } catch {
      // The missing number says that the recording is cut.
      this.#parts.room.written(bytes)
    }
  }

  /** Does work after all work before it. A call that cannot be read is left out. */
  #do(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch(() => {
      this.#isCut = true
    })
  }
}

function bytesIn({ chunks }: RecordedBody): number {
  return chunks.reduce((sum, { byteLength }) => sum + byteLength, 0)
}
