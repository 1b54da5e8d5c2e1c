/** The graphs of the server's own project, and its settings as they are after each reload. */

import type { Env } from '../../../cluster/index.ts'
import type { WebhookPolicy } from '../../egress/index.ts'
import { compileProject, ProjectComponents, startGraphHost,
  watchProject } from '../../graph/index.ts'
import type { ComponentSource, ExecutionMarks, HttpSettings, Project, RouteGroup,
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
  close(): Promise<void>
}

/** Starts the graphs of a project, and follows its changes if the settings say so. */
export async function openGraphs(project: Project,
  { workers, workerHeapMb: heapMb, graphEnv: variables, reload, ownTraces, ownTracesRatio }:
    Settings,
  { env, marks }: { env: Env; marks: ExecutionMarks | undefined }): Promise<ProjectGraphs> {
  // Relative paths in the project's code start from its configuration, as with the project's own
  // tools.
  process.chdir(project.root)
  const compiled = await compileProject(project)
  const components = await ProjectComponents.open(project)
  for (const warning of components.warnings) env.log.warn(warning)
  const host = await startGraphHost({ project: compiled, workers, heapMb, variables, marks, env,
    tracedRatio: ownTraces === 'deep' ? ownTracesRatio : undefined })
  const cannotReload = ({ message: reason, cause: error }: Error) =>
    env.log.error('The changed project cannot be loaded; the one before it stays.', { reason,
      ...error !== undefined && { error } })
  let { webhooks, store, timeToLive, settings: { disabled_routes: disabledRoutes = [], http } } =
    project
  const stopWatching = !reload ? () => {} : watchProject(env, { project, compiled, components }, {
    changed: (compiled, project) => {
      host.reload(compiled).then((opened) => {
        if (opened === 'superseded') return
        webhooks = project.webhooks
        store = project.store
        timeToLive = project.timeToLive
        disabledRoutes = project.settings.disabled_routes ?? []
        http = project.settings.http
        env.log.info('The project was reloaded.')
      }, cannotReload)
    },
    failed: cannotReload,
  })
  return {
    host,
    webhooks: () => webhooks,
    itemSettings: () => itemSettingsOf(store, host),
    timeToLive: () => timeToLive,
    disabledRoutes: () => disabledRoutes,
    http: () => http,
    components,
    close: async () => {
      stopWatching()
      await host.close()
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
