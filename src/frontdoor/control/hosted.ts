/**
 * The routes that `langgraphjs deploy --remote --host-url …/control/hosted` calls, and those that
 * `langgraph deploy` finds by `LANGSMITH_ENDPOINT`: an archive is built here, and becomes a
 * revision as any other.
 */

import type { FastifyRequest } from 'fastify'

import { createHostedDeployment, createPushToken, createUploadUrl, deleteHostedDeployment,
  getHostedDeployment, getListener, listHostedDeployments, listListeners, updateHostedDeployment,
  uploadArchive } from '../../api/index.ts'
import type { Body, HostedDeployment } from '../../api/index.ts'
import { isDeploymentName } from '../../deployment/index.ts'
import type { Deployment } from '../../deployment/index.ts'
import { HeddleError } from '../../errors.ts'
import type { App } from '../http/route.ts'
import { serve, serveFresh } from '../http/serve.ts'
import { buildsIn } from './builds.ts'
import { urlOf } from './deployments.ts'
import { hostedDeployment } from './hosted-json.ts'
import { calledRoot, hostedDeploymentOf, hostedDeployments, revisionById,
  setHostedSecrets } from './hosted-parts.ts'
import { hostedRevisionRoutes } from './hosted-revisions.ts'
import { byOf, changed } from './parts.ts'
import type { ControlParts } from './parts.ts'

const message = 'langgraphjs deploy'

/** Adds the routes of deployments, listeners, revisions and uploads for commands that deploy. */
export async function addHosted(app: App, parts: ControlParts): Promise<void> {
  deploymentRoutes(app, parts)
  listenerRoutes(app)
  updateRoutes(app, parts)
  hostedRevisionRoutes(app, parts)
  await app.register(async (scope) => uploadRoute(scope as App, parts))
}

const json = (parts: ControlParts, request: FastifyRequest,
  deployment: Deployment): HostedDeployment =>
  hostedDeployment(deployment, urlOf(request, deployment, parts.deployments))

function deploymentRoutes(app: App, parts: ControlParts): void {
  const { deployments: { records, serving, data }, env } = parts

  serveFresh(app, listHostedDeployments, async (request) => {
    const { name: only, name_contains: part = '', limit = 100, offset = 0 } = request.query
    const rows = (await hostedDeployments(parts, request))
      .filter(({ name }) => name.includes(part) && (only === undefined || name === only))
    return { offset,
      resources: rows.slice(offset, offset + limit).map((each) => json(parts, request, each)) }
  })

  serveFresh(app, createHostedDeployment, async (request) => {
    const { body: { name, source, secrets }, caller } = request
    requireSource(source)
    if (!isDeploymentName(name)) {
      throw new HeddleError('invalid',
        '--name must be small letters, digits and dashes, not only ' +
          'digits, and no dash at either end.')
    }
    const deployment = await records.create({ name, tenant: caller.tenant, provisional: true })
    await records.note(deployment.id, { kind: 'deployment', by: byOf(caller),
      data: { change: 'created', name } })
    await serving.learn(name)
    await setHostedSecrets(parts, deployment, request, secrets ?? [])
    return json(parts, request, deployment)
  })

  serveFresh(app, getHostedDeployment,
    async (request) => json(parts, request, await hostedDeploymentOf(parts, request)))

  serve(app, deleteHostedDeployment, async (request) => {
    // The command has asked before.
    const marked = await changed(parts, await hostedDeploymentOf(parts, request),
      () => ({ removing: true }))
    data.remove(marked).catch((error: unknown) =>
      env.log.warn('A deployment could not be removed yet.', { error, deployment: marked.name })
    )
  })
}

/** Nothing is placed by a listener here: the servers of the cluster take all. */
function listenerRoutes(app: App): void {
  serveFresh(app, listListeners, async ({ query: { offset = 0 } }) => ({ offset, resources: [] }))
  serve(app, getListener, async () => {
    throw new HeddleError('not_found', 'There are no listeners here: leave out --listener-id.')
  })
}

function updateRoutes(app: App, parts: ControlParts): void {
  serve(app, createPushToken, async () => {
    throw noImages()
  })

  serveFresh(app, createUploadUrl, async (request) => {
    const deployment = await hostedDeploymentOf(parts, request)
    const { revision, address } = await buildsIn(parts).begin(deployment, { message,
      by: byOf(request.caller) })
    const { protocol, host } = request
    return { object_path: revision.id,
      upload_url: `${protocol}://${host}${calledRoot(request)}/uploads/${address}` }
  })

  serveFresh(app, updateHostedDeployment, async (request) => {
    const { revision_source: source, source_config: commands, secrets,
      source_revision_config: { source_tarball_path: uploaded = '',
        langgraph_config_path: config = 'langgraph.json' } } = request.body
    requireSource(source)
    requireNoCommands(commands)
    const deployment = await hostedDeploymentOf(parts, request)
    const revision = await revisionById(parts, deployment, uploaded)
    const builds = buildsIn(parts)
    if (await builds.phase(revision) !== 'received') {
      throw new HeddleError('not_ready', `The archive of ${revision.name} is not uploaded, or ` +
        'it is built already.')
    }
    await setHostedSecrets(parts, deployment, request, secrets ?? [])
    await builds.start(revision, { by: byOf(request.caller), config, activates: true })
    return json(parts, request, deployment)
  })
}

/** Adds the route of archives, whose bodies are no JSON. */
function uploadRoute(app: App, parts: ControlParts): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
  serve(app, uploadArchive, async ({ params, body }) => {
    const archive = body as AsyncIterable<Uint8Array> | undefined
    if (archive === undefined) throw new HeddleError('invalid', 'The archive is empty.')
    await buildsIn(parts).receive(params.address, archive)
  })
}

function requireSource(source: string): void {
  if (source !== 'internal_source') throw noImages()
}

function noImages(): HeddleError {
  return new HeddleError('invalid', 'No images are taken here: add --remote, and the project is ' +
    'built here.')
}

function requireNoCommands(commands: Body<typeof updateHostedDeployment>['source_config']): void {
  if (commands?.install_command == null && commands?.build_command == null) return
  throw new HeddleError('invalid', 'No commands are run here: the packages of the lock file are ' +
    'installed, and TypeScript needs no build.')
}
