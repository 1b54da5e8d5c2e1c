/** Has a project built by the server: its own files are sent, and nothing that is installed. */

import { resolve } from 'node:path'

import { Backoff } from '../../../cluster/index.ts'
import { packSources } from '../../revision/index.ts'
import { CommandError } from '../admin-command.ts'
import type { ControlDeployment, ControlRevision } from '../../api/index.ts'
import type { ControlAccess } from '../control/control-command.ts'
import { NoAnswerError } from '../control/control-error.ts'
import { linesOf } from '../control/line-reader.ts'
import { count } from '../control/move-text.ts'
import { readRevision, removeRevision } from '../control/rollout.ts'
import type { Deploying } from './deploy-plan.ts'
import { sizeText } from './size-text.ts'
import type { StepRows } from './step-rows.ts'
import { uploadChunks } from './upload.ts'

/** Project to build, with the rows for its progress. */
export interface RemoteBuilding extends Deploying {
  readonly rows: StepRows
  /** The deployment as it was. */
  readonly before: ControlDeployment
}

/** A revision that the server has built. */
export interface BuiltThere {
  readonly revision: ControlRevision
  /** True if the one that is active is the same, and this one is removed again. */
  readonly isActive: boolean
}

/** Connections that are cut one after another before it gives up. */
const cutsMax = 10

/** Resolves when the revision can be checked. Throws CommandError and RevisionError. */
export async function buildThere(building: RemoteBuilding): Promise<BuiltThere> {
  const { source: { folder }, access, plan, rows, before } = building
  const { client, name: deployment } = access
  const packed = await packSources(resolve(folder, plan.build.config ?? '.'), plan.build)
  const { archive: { kind: _, path: __, ...archive }, config, wantsEnv, source, chunks } = packed
  rows.done('pack', [count(archive.files, 'own file')], { own_files: archive.files })
  const { revision: { name }, missing } = await client.ask(
    'POST /control/v1/deployments/:deployment/builds',
    { params: { deployment },
      body: { archive, config, wants_env: wantsEnv, source,
        ...plan.message !== '' && { message: plan.message } } },
  )
  const sent = await uploadChunks({ client, deployment, revision: name, missing,
    route: 'PUT /control/v1/deployments/:deployment/revisions/:revision/source/:sha256',
    chunks: new Map(chunks.map(({ sha256, data }) => [sha256, data])),
    progress: (text) => rows.progress('upload', text) })
  rows.done('upload', [sizeText(sent)], { sent_bytes: sent })
  await client.ask('POST /control/v1/deployments/:deployment/revisions/:revision/build', {
    params: { deployment, revision: name },
    body: {},
  })
  const revision = await followBuild(access, name, rows)
  if (revision.state === 'refused') {
    const message = revision.reason ?? 'The build failed.'
    rows.done('build', [`${name} is refused`], { revision: name, refused: true, message })
    throw new CommandError(message, 'refused')
  }
  rows.done('build', [`${name}, ${count(revision.files, 'file')}`], { revision: name,
    revision_hash: revision.hash })
  return { revision, isActive: await isSame(access, revision, before) }
}

/** Shows the lines of the build until it has ended. */
async function followBuild(access: ControlAccess, name: string,
  rows: StepRows): Promise<ControlRevision> {
  const { client, name: deployment, env } = access
  const backoff = new Backoff(env, { firstMs: 200, longestMs: 3_000 })
  let seen = 0
  for (let cuts = 0; cuts <= cutsMax; cuts++) {
    let isWhole = false
    try {
      const answer = await client.open('GET /control/v1/deployments/:deployment/logs', {
        params: { deployment },
        query: { build: name, follow: true },
        headers: { accept: 'application/x-ndjson' },
        signal: new AbortController().signal,
      })
      let place = 0
      for await (const { text } of linesOf(answer)) {
        // After a cut they begin anew.
        if (++place <= seen) continue
        seen = place
        cuts = 0
        rows.say('', text, { build: name, text })
      }
      isWhole = true
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error
    }
    const revision = await readRevision(access, name)
    // Only the end of the lines says that all of it is stored.
    if (isWhole && revision.state !== 'building') return revision
    await backoff.pause()
  }
  throw new CommandError(`The build goes on: see "heddle logs --build ${name} --follow".`)
}

async function isSame(access: ControlAccess, { name, hash }: ControlRevision,
  { active, next }: ControlDeployment): Promise<boolean> {
  if (active === null || next !== null) return false
  const before = await readRevision(access, active)
  if (before.hash !== hash) return false
  await removeRevision(access, name)
  return true
}
