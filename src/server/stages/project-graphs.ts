/** The graphs of the server's own project, and its settings as they are after each reload. */

import type { Env } from '../../../cluster/index.ts'
import type { WebhookPolicy } from '../../egress/index.ts'
import { compileProject, ProjectComponents, ReloadableApp, startGraphHost,
  watchProject } from '../../graph/index.ts'
import type { AuthSettings, ComponentSource, ExecutionMarks, HttpSettings, Project, RouteGroup,
  RunningGraphHost } from '../../graph/index.ts'
import type { ItemSettings } from '../../items/index.ts'
import type { Settings } from '../../settings/index.ts'

/** The running graphs of a project. */
export interface ProjectGraphs {
  readonly host: RunningGraphHost
  /** Policy for the webhooks of runs, which the project states at the time of the call. */
  webhooks(): WebhookPolicy
  /** Settings for items, which the project states at the time of the call. */
  itemSettings(): ItemSettings
  /**
   * Time to live of new threads, which the project states at the time of the call; undefined for no
   * end.
   */
  timeToLive(): Project['timeToLive']
  /** Groups of routes that the project turns off at the time of the call. */
  disabledRoutes(): readonly RouteGroup[]
  /** Settings below `http` that the project states at the time of the call. */
  http(): HttpSettings | undefined
  /** The components of its user interface, as they are now. */
  readonly components: ComponentSource
  /** Gives the code the URL at which this server answers clients; undefined if it does not. */
  servedAt(url: string | undefined): void
  /** The login that the project names at the time of the call; undefined if it names none. */
  auth(): AuthSettings | undefined
  close(): Promise<void>
}

/** Starts the graphs of a project, and follows its changes if the settings say so. */
export async function openGraphs(project: Project,
  { workers, workerHeapMb: heapMb, graphEnv: variables, reload, appTimeoutMs: timeoutMs, ownTraces,
    ownTracesRatio }: Settings,
  { env, marks }: { env: Env; marks: ExecutionMarks | undefined }): Promise<ProjectGraphs> {
  // Relative paths in the project's code start from its configuration, as with the project's own
  // tools.
  process.chdir(project.root)
  const compiled = await compileProject(project)
  const components = await ProjectComponents.open(project)
  for (const warning of components.warnings) env.log.warn(warning)
  const app = new ReloadableApp({ env, heapMb, workers, variables, timeoutMs })
  const starting = startGraphHost({ project: compiled, workers, heapMb, variables, marks, env,
    tracedRatio: ownTraces === 'deep' ? ownTracesRatio : undefined })
  const [loaded, started] = await Promise.allSettled([app.load(compiled), starting])
  if (loaded.status === 'rejected' || started.status === 'rejected') {
    if (started.status === 'fulfilled') await started.value.close()
    if (loaded.status === 'fulfilled') await loaded.value.drop()
    throw loaded.status === 'rejected' ? loaded.reason : (started as PromiseRejectedResult).reason
  }
  const host = started.value
  loaded.value.take()
  host.useApp(() => app.app)
  const cannotReload = ({ message: reason, cause: error }: Error) =>
    env.log.error('The changed project cannot be loaded; the one before it stays.', { reason,
      ...error !== undefined && { error } })
  let { webhooks, store, timeToLive, settings } = project
  let changes = 0
  const stopWatching = !reload ? () => {} : watchProject(env, { project, compiled, components }, {
    changed: (compiled, project) => {
      const reload = async () => {
        const change = ++changes
        const changed = await app.load(compiled)
        if (change !== changes) return await changed.drop()
        const opened = await host.reload(compiled).catch(async (error: unknown) => {
          await changed.drop()
          throw error
        })
        if (opened === 'superseded') return await changed.drop()
        changed.take()
        webhooks = project.webhooks
        store = project.store
        timeToLive = project.timeToLive
        settings = project.settings
        env.log.info('The project was reloaded.')
      }
      reload().catch(cannotReload)
    },
    failed: cannotReload,
  })
  return {
    host,
    webhooks: () => webhooks,
    itemSettings: () => itemSettingsOf(store, host),
    timeToLive: () => timeToLive,
    disabledRoutes: () => settings.disabled_routes ?? [],
    http: () => settings.http,
    components,
    servedAt: (url) => {
      host.servedAt(url)
      app.servedAt(url)
    },
    auth: () => settings.auth,
    close: async () => {
      stopWatching()
      await Promise.all([host.close(), app.close()])
      marks?.close()
    },
  }
}

function itemSettingsOf({ embedding, ...store }: Project['store'],
  host: Pick<RunningGraphHost, 'embed'>): ItemSettings {
  if (embedding === undefined) return store
  const { dims, fields } = embedding
  return { ...store, index: { dims, fields, embed: (texts, kind) => host.embed(texts, kind) } }
}
