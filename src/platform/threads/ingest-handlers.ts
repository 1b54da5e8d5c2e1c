/** Handlers of the ingest thread for calls of the main thread. */

import { FairSemaphore, FairTurns } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import { experimentWrites } from '../evaluate/datasets/experiments/experiment-writes.ts'
import { examplesInTurn } from '../evaluate/datasets/example-turns.ts'
import { documentWrites } from '../records/documents/documents.ts'
import { EndedSpans } from '../ingest/ended/ended-writer.ts'
import type { Feedback } from '../spans/feedback-port.ts'
import type { SpanStore } from '../spans/span-port.ts'
import type { Uuid } from '../spans/span.ts'
import type { Calls } from '../calls/calls.ts'
import type { IngestAnswer, IngestCall, SpanWrites } from '../ingest/ingest-call.ts'
import type { BodyJob } from './body-thread.ts'
import type { IngestHandlers, IngestNeeds } from './platform-calls.ts'
import { ArrivalClock } from '../ingest/arrival-clock.ts'
import { inflate, inflatedMax } from '../ingest/body/inflate.ts'
import { feedbackChanges } from '../ingest/feedback-changes.ts'
import { writeFeedback } from '../ingest/feedback-write.ts'
import { ingestRequest } from '../ingest/ingest-request.ts'
import { writeOwnRuns } from '../ingest/own-runs.ts'
import { RemovedRuns } from '../ingest/removed-runs.ts'
import { RecordingWriter } from '../ingest/recording-writer.ts'
import { ProjectCache } from '../ingest/project-cache.ts'
import { PriceCache } from '../ingest/priced.ts'
import { inTurn } from '../calls/in-turn.ts'
import { LongBodies } from '../calls/long-bodies.ts'
import { TraceMemory } from '../ingest/trace-memory.ts'

/** Store, calls and clock of the handlers. */
export interface IngestParts {
  readonly store: SpanStore
  readonly needs: Calls<IngestNeeds>
  readonly env: Env
}

/** Requests that are worked on at once, and those of one tenant. */
const atOnce = { inAll: 24, each: 6 }
/** Requests that may wait here. The front door bounds their bytes. */
const waitingMax = 10_000
/** Bytes of an inflated body from which on it takes a turn with others like it. */
const largeBytes = 8 * 1024 * 1024
/** Milliseconds by which the clock may go back before ends of spans follow it back. */
const endsFollowMs = 10_000
const fullMessage = 'Too many traces are waiting to be written: send them again in a moment.'

/** The handlers over a store. */
export function ingestHandlers({ store, needs, env }: IngestParts): IngestHandlers {
  const removedRuns = new RemovedRuns(store, env)
  reportRemovals({ store, needs, env })
  const clock = new ArrivalClock(env)
  const nextUs = () => clock.nextUs()
  // Rules read ends up to now: those of a clock that was ahead would wait until it is there again.
  const endClock = new ArrivalClock(env, { followsMs: endsFollowMs })
  const ended = new EndedSpans({ documents: store, needs, nextUs: () => endClock.nextUs(), env })
  const longBodies = new LongBodies<BodyJob>(new URL('./body-thread.ts', import.meta.url), env)
  const parts = { store, projects: new ProjectCache(needs, env), memory: new TraceMemory(), nextUs,
    ended, prices: new PriceCache(needs, env), turns: new FairTurns(env), longBodies, removedRuns }
  const turns = new FairSemaphore({ ...atOnce, waiting: waitingMax, full: fullMessage })
  const largeTurns = new FairSemaphore({ inAll: 2, each: 1, waiting: waitingMax,
    full: fullMessage })
  const underway = new Set<Promise<unknown>>()

  /** Registers work, so that closing waits for it. */
  const finished = async <T>(work: Promise<T>): Promise<T> => {
    underway.add(work)
    try {
      return await work
    } finally {
      underway.delete(work)
    }
  }
  const ingest = async (call: IngestCall): Promise<IngestAnswer> => {
    const small = await inflate(call.body, call.encoding, largeBytes).catch((error: unknown) => {
      if (HeddleError.from(error).code !== 'too_large') throw error
    })
    if (small !== undefined) return ingestRequest(parts, call, small)
    // Two at a time, so that bodies which grow a thousandfold do not fill the memory.
    return inTurn(largeTurns, call.tenant,
      async () => ingestRequest(parts, call, await inflate(call.body, call.encoding, inflatedMax)))
  }
  const documents = documentWrites(store)
  // One that tells what it removes by itself is written by this process alone.
  const recordings = new RecordingWriter(store, nextUs, store.watchRemovals !== undefined)
  /** Tokens go first: they give feedback, and so does no recording. */
  const removeUnlisted = async (call: Parameters<SpanWrites['removeUnlisted']>[0]) => {
    await removedRuns.drop(call.tenant)
    return await store.deleteFeedbackTokens(call.tenant) + await recordings.removeAll(call)
  }
  const examples = examplesInTurn({ store, needs, env, longBodies }, finished)
  const experiments = experimentWrites(parts, examples)
  return {
    ...examples,
    readExperiment: (call) => finished(experiments.readExperiment(call)),
    addExperiment: (call) => finished(experiments.addExperiment(call)),
    putDocuments: (call) => finished(documents.putDocuments(call)),
    deleteDocuments: (call) => finished(documents.deleteDocuments(call)),
    dropDocuments: (place) => finished(documents.dropDocuments(place)),
    ingest: (call) => finished(inTurn(turns, call.tenant, () => ingest(call))),
    ownRuns: (call) => finished(writeOwnRuns({ ...parts, needs }, call, nextUs)),
    ...feedbackHandlers(store, finished),
    arrivalUs: () => Promise.resolve(nextUs()),
    remove: ({ tenant, what }) => finished(store.remove(tenant, what)),
    isRemovedProject: ({ tenant, project }) => store.isRemovedProject(tenant, project),
    changeLife: ({ tenant, project, timeToLiveS }) =>
      finished(store.changeLife(tenant, project, timeToLiveS)),
    noteRemovedRuns: ({ tenant, runs }) => finished(removedRuns.add(tenant, runs)),
    putRecording: (block) => finished(inTurn(turns, block.tenant, () => recordings.put(block))),
    removeRecordings: (call) => finished(recordings.remove(call)),
    removeUnlisted: (call) => finished(removeUnlisted(call)),
    close: async () => {
      while (underway.size > 0) await Promise.allSettled(underway)
      await longBodies.close()
      await store.close()
    },
  }
}

/** Reports spans that the store removes to free space or by age. */
function reportRemovals({ store, needs, env }: IngestParts): void {
  store.watchRemovals?.((removed) => {
    needs.removed(removed).catch((error: unknown) => {
      env.log.debug('Removed spans could not be counted.', { error })
    })
  })
}

type FeedbackCalls = 'putFeedback' | 'changeFeedback' | 'deleteFeedback' | 'putFeedbackToken'

/** Handlers of feedback. `finished` registers work that closing waits for. */
function feedbackHandlers(store: SpanStore,
  finished: <T>(work: Promise<T>) => Promise<T>): Pick<IngestHandlers, FeedbackCalls> {
  const feedback = feedbackChanges(store)
  return {
    putFeedback: (rows) => finished(putFeedback(store, rows)),
    changeFeedback: (call) => finished(feedback.changeFeedback(call)),
    deleteFeedback: (call) => finished(feedback.deleteFeedback(call)),
    putFeedbackToken: (token) => finished(store.putFeedbackToken(token)),
  }
}

async function putFeedback(store: SpanStore, rows: readonly Feedback[]): Promise<readonly Uuid[]> {
  const refused: Uuid[] = []
  for (const ofTenant of Map.groupBy(rows, ({ tenant }) => tenant).values()) {
    refused.push(...await writeFeedback(store, ofTenant))
  }
  return refused
}
