/** The steps of a deployment: build, upload, check, load, activate, watch. */

import { revisionHash } from '../../revision/index.ts'
import type { Manifest } from '../../revision/index.ts'
import { CommandError } from '../admin-command.ts'
import type { ControlDeployment, ControlReport, ControlRevision,
  ControlUpload } from '../../api/index.ts'
import type { ControlAccess } from '../control/control-command.ts'
import { ControlError } from '../control/control-error.ts'
import { changeSecrets } from '../control/deployment-secrets-command.ts'
import { count } from '../control/move-text.ts'
import { readDeployment, removeRevision } from '../control/rollout.ts'
import { activate } from './activation.ts'
import { buildProject } from './built-project.ts'
import type { BuiltProject } from './built-project.ts'
import { checkRevision } from './check.ts'
import { resultOf } from './deploy-plan.ts'
import type { DeployPlan, Deploying } from './deploy-plan.ts'
import { passReplay } from './replay-gate.ts'
import { missingSecretsText, reportTexts } from './report-text.ts'
import { buildThere } from './remote-build.ts'
import { sizeText } from './size-text.ts'
import { StepRows } from './step-rows.ts'
import { uploadChunks } from './upload.ts'

interface Making extends Deploying {
  readonly rows: StepRows
}

/** Carries a plan out. Throws CommandError. */
export async function deploy({ source, access, plan }: Deploying): Promise<void> {
  const rows = new StepRows(source, access.env, plan.json)
  const all = { source, access, plan, rows }
  const made = plan.isRemote ? await madeThere(all) : await madeHere(all)
  const { revision, before } = made
  // Secrets that are kept are loaded with a roll-out, also with one to the same revision.
  const isKept = (before.kept_secrets ?? []).length > 0
  if (made.isActive && !isKept && plan.goal !== 'check' && !plan.movesRuns) {
    return rows.say('unchanged', `${before.active} is active at ${before.url}`,
      resultOf('unchanged', before, { name: before.active! }))
  }
  const { revision: checked, report } = await checkRevision(access, revision.name, {
    timeoutMs: plan.timeoutMs,
    rows,
  })
  sayReport(rows, checked, report, before)
  await passReplay(all, rows, revision, before)
  if (plan.goal === 'activate')
    return await activate({ source, access, plan, rows, before, revision })
  if (plan.goal === 'keep') {
    return rows.say('ready', `${revision.name}: heddle revisions activate ${revision.name} -d ` +
      plan.name, resultOf('ready', before, revision))
  }
  await forget(access, revision)
  rows.say('checked', 'nothing is kept', resultOf('checked', before, revision))
}

interface Made {
  readonly before: ControlDeployment
  readonly revision: ControlRevision
  /** True if nothing changes. */
  readonly isActive: boolean
}

/** Builds the project here, and uploads what is missing. */
async function madeHere(all: Making): Promise<Made> {
  const { source, access, plan, rows } = all
  const nowMs = access.env.nowMs()
  const built = await buildProject(source, plan.build, { nowMs, isRead: !plan.repacks })
  for (const warning of built.warnings) source.note(`heddle: ${warning}\n`)
  rows.done('build', [buildText(built.manifest)], { revision_hash: revisionHash(built.manifest),
    ...sizesOf(built.manifest) })
  const before = await deploymentFor(access, plan)
  const { revision, missing } = await access.client.ask(
    'POST /control/v1/deployments/:deployment/revisions',
    { params: { deployment: access.name }, isRepeatable: true, body: {
      manifest: { ...built.manifest },
      ...plan.message !== '' && { message: plan.message },
    } },
  )
  const isActive = revision.name === before.active && before.next === null
  const after = await setSecrets(access, plan, before, isActive)
  if (!isActive || plan.goal === 'check') {
    const isPacked = missing.every((sha256) => built.chunks.has(sha256))
    const packed = isPacked ? built : await packedAnew(all, built)
    await upload(access, rows, { revision, missing, built: packed })
  }
  return { before: after, revision, isActive }
}

/**
 * Packs all packages again, as the cluster lacks chunks of earlier archives. Throws CommandError if
 * the project has changed meanwhile.
 */
async function packedAnew({ source, access, plan }: Making,
  built: BuiltProject): Promise<BuiltProject> {
  const again = await buildProject(source, plan.build, { nowMs: access.env.nowMs(), isRead: false })
  if (revisionHash(again.manifest) === revisionHash(built.manifest)) return again
  throw new CommandError(
    `The project changed while it was built (${changedIn(built, again)}): deploy it again.`,
  )
}

/** Path of the first own file that has changed, or else of the first package. */
function changedIn(before: BuiltProject, after: BuiltProject): string {
  const [old, now] = [before, after].map(({ ownFiles }) => ownFiles ?? new Map<string, string>())
  const file = [...old!.keys(), ...now!.keys()].find((name) => old!.get(name) !== now!.get(name))
  if (file !== undefined) return file
  const hashes = new Map(before.manifest.archives.map(({ path, hash }) => [path, hash]))
  const changed = after.manifest.archives.find(({ path, hash }) => hashes.get(path) !== hash)
  return changed?.path || 'its settings'
}

/** Has the project built by the server. */
async function madeThere(making: Making): Promise<Made> {
  const { access, plan } = making
  const before = await deploymentFor(access, plan)
  const { revision, isActive } = await buildThere({ ...making, before })
  return { before: await setSecrets(access, plan, before, isActive), revision, isActive }
}

/**
 * Finds the deployment, and makes it if it is missing, with the share of runs that are recorded. A
 * check makes none.
 */
async function deploymentFor(access: ControlAccess,
  { goal, name, preview, record }: DeployPlan): Promise<ControlDeployment> {
  try {
    const found = await readDeployment(access)
    if (record === undefined || record === found.record) return found
    return await access.client.ask('PATCH /control/v1/deployments/:deployment', {
      params: { deployment: name },
      body: { record },
      isRepeatable: true,
    })
  } catch (error) {
    if (!(error instanceof ControlError) || error.code !== 'not_found' || goal === 'check') {
      throw error
    }
  }
  return await access.client.ask('POST /control/v1/deployments', {
    body: { name, ...record !== undefined && { record }, ...preview && { preview } },
  })
}

/**
 * The revision and its secrets are one version: they are loaded together. A share of the runs has
 * no secrets of its own, so that the active revision loads them first.
 */
async function setSecrets(access: ControlAccess, { secrets, percent }: DeployPlan,
  before: ControlDeployment, isActive: boolean): Promise<ControlDeployment> {
  if (secrets === undefined) return before
  // A server before sets keeps none: nothing else would start an active revision anew.
  const isOlder = before.kept_secrets === undefined && isActive
  const restart = isOlder || (percent !== undefined && before.active !== null)
  await changeSecrets(access, { values: secrets, restart })
  return await readDeployment(access)
}

async function upload({ client, name }: ControlAccess, rows: StepRows,
  { revision, missing, built: { chunks, manifest } }:
    & Pick<ControlUpload, 'revision' | 'missing'>
    & {
      readonly built: BuiltProject
    }): Promise<void> {
  const sent = await uploadChunks({ client, deployment: name, revision: revision.name,
    route: 'PUT /control/v1/deployments/:deployment/revisions/:revision/chunks/:sha256', missing,
    chunks, progress: (text) => rows.progress('upload', text) })
  const all = new Set(manifest.archives.flatMap((each) => each.chunks.map(({ sha256 }) => sha256)))
  rows.done('upload', [`${missing.length} of ${count(all.size, 'chunk')}, ${sizeText(sent)}`], {
    sent_chunks: missing.length,
    chunks: all.size,
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

/** Removes a checked revision, unless it was there before the check. */
async function forget(access: ControlAccess, { name, state }: ControlRevision): Promise<void> {
  if (state === 'uploading') await removeRevision(access, name)
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
