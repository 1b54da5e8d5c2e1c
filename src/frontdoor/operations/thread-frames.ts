/**
 * The runs of a thread as one stream: the events of each, one run after another.
 *
 *   1. The feed of the thread says which runs begin; the feed of each run has its events.
 *   2. The next run is followed when everything of the one before was sent.
 *   3. An id names the run, by the number of its first event in the thread, and the place in it.
 */

import type { JsonText } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'
import { firstSeqOfRow, fromNow } from '../../thread/index.ts'
import type { FeedEnd, FeedEvent, FeedListener, ThreadClient, ThreadEvent,
  ThreadFollowEnd } from '../../thread/index.ts'

/**
 * run_modes      all events of all runs, each run between two `metadata` events
 * lifecycle      only those two
 * state_update   the state after each run
 */
export type ThreadStreamMode = 'run_modes' | 'lifecycle' | 'state_update'

/** Request for a thread's stream: its modes, and the event after which it begins. */
export interface ThreadStreamRequest {
  readonly modes: readonly ThreadStreamMode[]
  /** The last event that it saw; `-` for all that is retained, null for what is new. */
  readonly after: string | null
}

/** The thread that is streamed, and to whom. */
export interface ThreadFramesOptions extends ThreadStreamRequest {
  readonly threads: Pick<ThreadClient, 'followThread' | 'followRun' | 'listRuns' | 'state'>
  readonly tenant: string
  readonly threadId: string
  readonly listener: FeedListener
}

/** A run in the stream, in the order of its first event. */
interface StreamedRun {
  readonly runId: string
  readonly seq: number
  /** Place where the client left off in it; null for its start. */
  readonly after: string | null
  readonly ended: PromiseWithResolvers<void>
}

/** Place where a client left off: the number of a run's first event, and the place in the run. */
interface LeftOff {
  readonly seq: number
  readonly inRun: string
  /** Given if the number is only that of the row with the run's first event. */
  readonly runId?: string
}

/** In place of an event of the run: its last frame. */
const done = 'done'

/** Throws `not_found`. The result stops it. */
export async function followFrames(options: ThreadFramesOptions): Promise<() => void> {
  const frames = new ThreadFrames(options)
  await frames.begin()
  return () => frames.stop()
}

class ThreadFrames {
  readonly #options: ThreadFramesOptions
  readonly #modes: ReadonlySet<ThreadStreamMode>
  readonly #runs: StreamedRun[] = []
  /** Set until the run in which the client left off has come. */
  #leftOff: LeftOff | undefined
  #isSending = false
  #stopped = false
  #stopThread = () => {}
  #stopRun = () => {}

  constructor(options: ThreadFramesOptions) {
    this.#options = options
    this.#modes = new Set(options.modes)
  }

  async begin(): Promise<void> {
    const { threads, tenant, threadId, after } = this.#options
    this.#leftOff = after === null ? await this.#newest() : leftOffAt(after)
    const afterSeq = this.#leftOff ? this.#leftOff.seq - 1 : null
    this.#stopThread = await threads.followThread(tenant, threadId, { afterSeq,
      ifMissing: 'reject' }, {
      events: (batch) => {
        for (const event of batch) this.#thread(event)
      },
      ended: (how) => this.#gone(how),
    })
    if (this.#stopped) this.#stopThread()
  }

  stop(): void {
    this.#stopped = true
    this.#stopThread()
    this.#stopRun()
    for (const { ended } of this.#runs) ended.resolve()
  }

  /** The run under way, from now on; without one, what comes behind the newest run. */
  async #newest(): Promise<LeftOff> {
    const { threads, tenant, threadId } = this.#options
    const list = (status?: 'running') =>
      threads.listRuns({ tenant, threadId, limit: 1, offset: 0, texts: [],
        ...status && { status } })
    const [running] = await list('running')
    if (running) {
      const { runId, firstSeq } = running
      return { seq: firstSeqOfRow(firstSeq), inRun: fromNow, runId }
    }
    const [newest] = await list()
    const row = newest ? Math.max(newest.lastSeq, newest.createdSeq) + 1 : 0
    return { seq: firstSeqOfRow(row), inRun: done, runId: '' }
  }

  #thread({ method, namespace, runId, seq, data }: ThreadEvent): void {
    if (method !== 'lifecycle' || namespace.length > 0 || this.#stopped) return
    const { event } = JSON.parse(data) as { event: string }
    const run = this.#runs.find((each) => each.runId === runId)
    if (event !== 'running') return run?.ended.resolve()
    if (run) return
    const { inRun, ...place } = this.#leftOff ?? { inRun: '', seq: 0 }
    this.#leftOff = undefined
    const isThere = place.runId === undefined ? place.seq === seq : place.runId === runId
    // A run that is not retained any more was followed by this one.
    const after = isThere ? inRun : null
    if (after !== done) this.#runs.push({ runId, seq, after, ended: Promise.withResolvers() })
    void this.#sendAll()
  }

  async #sendAll(): Promise<void> {
    if (this.#isSending) return
    this.#isSending = true
    try {
      for (let run = this.#runs[0]; run && !this.#stopped; run = this.#runs[0]) {
        await this.#send(run)
        this.#runs.shift()
      }
    } catch {
      this.#fail()
    }
    this.#isSending = false
  }

  async #send(run: StreamedRun): Promise<void> {
    const isTold = this.#modes.has('run_modes') || this.#modes.has('lifecycle')
    if (isTold) await this.#sendRun(run)
    await run.ended.promise
    if (this.#stopped) return
    const last = (name: string, json: JsonText) => this.#frame(run, { id: done, name, json })
    if (this.#modes.has('state_update')) last('state_update', await this.#state())
    if (isTold) {
      last('metadata', JSON.stringify({ run_id: run.runId, status: 'run_done' }))
    }
  }

  async #state(): Promise<JsonText> {
    const { threads, tenant, threadId } = this.#options
    return threads.state(tenant, threadId, { checkpointId: null, checkpointNs: '',
      subgraphs: false })
  }

  /** Resolves when the run has ended, or is gone. */
  async #sendRun(run: StreamedRun): Promise<void> {
    const { threads, tenant, threadId, listener } = this.#options
    const isWhole = this.#modes.has('run_modes')
    const ended = Promise.withResolvers<FeedEnd>()
    try {
      this.#stopRun = await threads.followRun(tenant, threadId, run.runId, { after: run.after,
        modes: isWhole ? null : [] }, {
        events: (batch) => {
          for (const event of batch) this.#runEvent(run, event, isWhole)
        },
        ready: () => listener.ready?.(),
        ended: ended.resolve,
      })
    } catch (error) {
      // It was rolled back or deleted meanwhile.
      if (HeddleError.from(error).code === 'not_found') return
      throw error
    }
    if (this.#stopped) return this.#stopRun()
    if (await ended.promise !== 'over') throw new HeddleError('unavailable')
  }

  #runEvent(run: StreamedRun, event: FeedEvent, isWhole: boolean): void {
    const { id, name, json } = event
    if (name === 'metadata') {
      const thread = { thread_id: this.#options.threadId }
      return this.#frame(run, { id, name,
        json: JSON.stringify({ ...JSON.parse(json) as object, ...thread }) })
    }
    if (isWhole && name !== 'end') this.#frame(run, event)
  }

  #frame({ seq }: StreamedRun, { id, name, json }: FeedEvent): void {
    if (!this.#stopped) this.#options.listener.events([{ id: `${seq}-${id}`, name, json }])
  }

  /** The client comes back with the last id that it saw. */
  #fail(): void {
    if (this.#stopped) return
    this.stop()
    this.#options.listener.ended('lost')
  }

  #gone(how: ThreadFollowEnd): void {
    if (how !== 'gone') return this.#fail()
    if (this.#stopped) return
    this.stop()
    this.#options.listener.ended('over')
  }
}

/** Reads an event id. Text that is not an id of ours means from the start, as `-` does. */
function leftOffAt(id: string): LeftOff | undefined {
  const [, seq, inRun] = /^(\d{1,16})-([\d.]+|done)$/.exec(id) ?? []
  return seq === undefined ? undefined : { seq: Number(seq), inRun: inRun! }
}
