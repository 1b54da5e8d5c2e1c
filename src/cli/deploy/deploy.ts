/** The steps of a deployment: build, upload, check, load, activate, watch. */

import { revisionHash } from '../../revision/index.ts'
import type { Manifest } from '../../revision/index.ts'
import type { ControlDeployment, ControlReport, ControlRevision,
  ControlUpload } from '../control/control-answer.ts'
import type { ControlAccess } from '../control/control-command.ts'
import { ControlError } from '../control/control-error.ts'
import { count } from '../control/move-text.ts'
import { readDeployment } from '../control/rollout.ts'
import { megabytes } from '../megabytes.ts'
import { activate } from './activation.ts'
import { buildProject } from './built-project.ts'
import type { BuiltProject } from './built-project.ts'
import { checkRevision } from './check.ts'
import { resultOf } from './deploy-plan.ts'
import type { DeployPlan, Deploying } from './deploy-plan.ts'
import { missingSecretsText, reportTexts } from './report-text.ts'
import { StepRows } from './step-rows.ts'
import { uploadChunks } from './upload.ts'

/** Carries a plan out. Throws CommandError. */
export async function deploy({ source, access, plan }: Deploying): Promise<void> {
  const rows = new StepRows(source, access.env, plan.json)
  const built = await buildProject(source, plan.build)
  for (const warning of built.warnings) source.note(`heddle: ${warning}\n`)
  rows.done('build', [buildText(built.manifest)], { revision_hash: revisionHash(built.manifest),
    ...sizesOf(built.manifest) })
  const before = await deploymentFor(access, plan)
  const { revision, missing } = await access.client.ask<ControlUpload>({ method: 'POST',
    path: `${access.path}/revisions`, isRepeatable: true,
    body: { manifest: built.manifest, ...plan.message !== '' && { message: plan.message } } })
  const isActive = revision.name === before.active && before.next === null
  await setSecrets(access, plan, isActive)
  if (isActive && plan.goal !== 'check') {
    return rows.say('unchanged', `${revision.name} is active at ${before.url}`,
      resultOf('unchanged', before, revision))
  }
  await upload(access, rows, { revision, missing, built })
  const { revision: checked, report } = await checkRevision(access, revision.name, {
    timeoutMs: plan.timeoutMs,
    rows,
  })
  sayReport(rows, checked, report, before)
  if (plan.goal === 'activate')
    return await activate({ source, access, plan, rows, before, revision })
  if (plan.goal === 'keep') {
    return rows.say('ready', `${revision.name}: heddle revisions activate ${revision.name} -d ` +
      plan.name, resultOf('ready', before, revision))
  }
  await forget(access, revision)
  rows.say('checked', 'nothing is kept', resultOf('checked', before, revision))
}

/** A check is about what is there: it makes no deployment. */
async function deploymentFor(access: ControlAccess,
  { goal, name, preview }: DeployPlan): Promise<ControlDeployment> {
  try {
    return await readDeployment(access)
  } catch (error) {
    if (!(error instanceof ControlError) || error.code !== 'not_found' || goal === 'check') {
      throw error
    }
  }
  return await access.client.ask({ method: 'POST', path: '/deployments',
    body: { name, ...preview && { preview } } })
}

/** With the revision that is active already, nothing else would start it anew. */
async function setSecrets({ client, path }: ControlAccess, { secrets }: DeployPlan,
  restart: boolean): Promise<void> {
  if (secrets === undefined) return
  await client.ask({ method: 'PUT', path: `${path}/secrets`, body: { values: secrets, restart },
    isRepeatable: true })
}

async function upload({ client, path }: ControlAccess, rows: StepRows,
  { revision, missing, built: { chunks } }: Pick<ControlUpload, 'revision' | 'missing'> & {
    readonly built: BuiltProject
  }): Promise<void> {
  const sent = await uploadChunks({ client, path: `${path}/revisions/${revision.name}`, missing,
    chunks, progress: (text) => rows.progress('upload', text) })
  rows.done('upload', [`${missing.length} of ${count(chunks.size, 'chunk')}, ${sizeText(sent)}`], {
    sent_chunks: missing.length,
    chunks: chunks.size,
    sent_bytes: sent,
  })
}

function sayReport(rows: StepRows, revision: ControlRevision, report: ControlReport,
  { name, active }: ControlDeployment): void {
  const graphs = revision.graphs.map(({ graph_id, nodes }) => ({ graph_id, nodes }))
  rows.done('check', reportTexts(revision, report, active), { revision: revision.name, graphs,
    report })
  const lacks = missingSecretsText(report, name)
  if (lacks !== undefined) rows.say('secrets', lacks, { missing_secrets: report.wants_env_missing })
}

/** One that was there before the check stays. */
async function forget({ client, path }: ControlAccess,
  { name, state }: ControlRevision): Promise<void> {
  if (state === 'uploading')
    await client.ask({ method: 'DELETE', path: `${path}/revisions/${name}` })
}

function sizesOf({ archives }: Manifest) {
  return {
    packages: archives.filter(({ kind }) => kind === 'package').length,
    own_files: archives.find(({ kind }) => kind === 'own')?.files ?? 0,
  }
}

function buildText(manifest: Manifest): string {
  const { packages, own_files: own } = sizesOf(manifest)
  return `${count(packages, 'package')}, ${count(own, 'own file')}`
}

function sizeText(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} KB` : `${megabytes(bytes)} MB`
}
