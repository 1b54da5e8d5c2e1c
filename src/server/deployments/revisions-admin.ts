/** Survey of stored revisions for operators: checks that all chunks are present and intact. */

import type { Service } from '../../../cluster/index.ts'
import type { Deployment, Deployments, Revision } from '../../deployment/index.ts'
import { HeddleError, ignoreNotFound } from '../../errors.ts'
import { rawValues } from '../../json/index.ts'

/** Result of a survey of some chunks of a revision. */
export interface RevisionSurvey {
  /** As `shop r3`. */
  readonly name: string
  /** Number of chunks that are missing or damaged. */
  readonly broken: number
  /** The chunk to go on with; null if this was the last one of the revision. */
  readonly nextChunk: number | null
}

/** Choice of chunks: those of the revision after a name, or of the first revision. */
export interface RevisionsRequest {
  readonly after: string | null
  /** Index of the first chunk, from 0. */
  readonly chunk: number
  /** True to read all bytes. */
  readonly deep: boolean
}

/** Looks at one revision after the other, so that no answer takes long. Null after the last. */
export interface RevisionsAdmin {
  survey(options: RevisionsRequest): Promise<RevisionSurvey | null>
}

/** The service and its wire. */
export const revisionsWire = { name: 'revisions', wire: { values: rawValues } } as const

type Records = Pick<Deployments, 'list' | 'revisions' | 'missing' | 'manifest' | 'readChunks'>

/** Chunks that are read for one answer. */
const chunksTogether = 4
/** Page of all deployments or revisions of a cluster. */
const all = { limit: Number.MAX_SAFE_INTEGER, offset: 0 }

/** Survey over the records. Revisions that are uploading, removed or refused are skipped. */
export function revisionsAdmin(records: Records): RevisionsAdmin {
  return {
    survey: async ({ after, chunk, deep }) => {
      const [lastName = '', lastRevision = ''] = after?.split(' ') ?? []
      const deployments = (await records.list(all)).filter(({ name, removing }) =>
        !removing && name >= lastName
      )
      for (const deployment of deployments) {
        const isLast = deployment.name === lastName
        const kept = (await records.revisions(deployment, all))
          .filter(({ state }) => state === 'ready').toReversed()
        // It may be gone by now: numbers only grow.
        const next = kept.find(({ number }) => !isLast || number > Number(lastRevision.slice(1)))
        if (next === undefined) continue
        const found = deep
          ? await chunksOf(records, deployment, next, chunk)
          : { broken: (await records.missing(next)).length, nextChunk: null }
        return { name: `${deployment.name} ${next.name}`, ...found }
      }
      return null
    },
  }
}

/** Reads some of the chunks. */
async function chunksOf(records: Records, { id }: Deployment, revision: Revision,
  chunk: number): Promise<Pick<RevisionSurvey, 'broken' | 'nextChunk'>> {
  const manifest = await records.manifest(revision).catch(ignoreNotFound)
  // Without it, nothing of the revision can be read.
  if (manifest === undefined) return { broken: 1, nextChunk: null }
  const chunks = [
    ...new Set(manifest.archives.flatMap((archive) => archive.chunks.map(({ sha256 }) => sha256))),
  ]
  const read = records.readChunks(id)
  let broken = 0
  const next = chunk + chunksTogether
  for (const sha256 of chunks.slice(chunk, next)) {
    await read(sha256).catch((error: unknown) => {
      if (HeddleError.from(error).code !== 'not_found') throw error
      broken++
    })
  }
  return { broken, nextChunk: next < chunks.length ? next : null }
}

/** The survey as a service for operators of a cluster, who ask a member. */
export function revisionsService(admin: RevisionsAdmin): Service<unknown, RevisionSurvey | null> {
  return { ...revisionsWire, answer: (options: RevisionsRequest) => admin.survey(options) }
}
