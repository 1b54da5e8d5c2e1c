/** The platform of one member: its threads, its projects, and what the front door asks of them. */

import type { Env } from '../../cluster/index.ts'
import type { CatalogClient } from './records/catalog/catalog-client.ts'
import { PendingRemovals } from './records/catalog/pending-removals.ts'
import { chartsOver } from './query/charts/chart.ts'
import type { Charts } from './query/charts/chart.ts'
import { datasetsIn } from './evaluate/datasets/catalog-datasets.ts'
import type { DatasetCatalog } from './evaluate/datasets/dataset.ts'
import { comparisonsOver } from './evaluate/datasets/experiments/comparison.ts'
import type { Comparisons } from './evaluate/datasets/experiments/comparison.ts'
import { datasetsOver } from './evaluate/datasets/datasets.ts'
import type { Datasets } from './evaluate/datasets/datasets.ts'
import type { DocumentPort } from './spans/document-port.ts'
import { documentsOver } from './records/documents/documents.ts'
import { downloadsOver } from './records/downloads/link-secrets.ts'
import type { Downloads } from './records/downloads/link-secrets.ts'
import { feedbackConfigsOver } from './records/feedback/feedback-config.ts'
import type { FeedbackConfigs } from './records/feedback/feedback-config.ts'
import { secretsOver } from './records/secrets/secrets.ts'
import type { SecretsKeys } from './records/secrets/secrets-key.ts'
import type { Secrets } from './records/secrets/secrets.ts'
import { withSpanLives } from './ingest/project-lives.ts'
import { projectsOver } from './records/projects/catalog-projects.ts'
import type { Project, Projects } from './records/projects/project.ts'
import { experimentEngine } from './evaluate/experiments/engine.ts'
import type { EngineParts, ExperimentOptions } from './evaluate/experiments/engine.ts'
import type { ExperimentEngine } from './evaluate/experiments/experiment-pass.ts'
import type { Experiments } from './evaluate/experiments/experiments.ts'
import { ruleEngine } from './evaluate/rules/engine.ts'
import type { RuleOptions } from './evaluate/rules/engine.ts'
import { platformPort } from './evaluate/rules/platform-port.ts'
import type { RuleEngine } from './evaluate/rules/rule-actor.ts'
import { ruleRecords } from './evaluate/rules/rule-records.ts'
import type { Rules } from './evaluate/rules/rules.ts'
import { itemsPlace } from './records/queues/catalog-items.ts'
import { queuesOver } from './records/queues/catalog-queues.ts'
import type { Queues } from './records/queues/catalog-queues.ts'
import { sharesOver } from './records/shares/catalog-shares.ts'
import type { Shares } from './records/shares/catalog-shares.ts'
import { viewsOver } from './records/views/view.ts'
import type { Views } from './records/views/view.ts'
import { createDeletions } from './query/deletions/deletions.ts'
import type { DeletionClient, Deletions } from './query/deletions/deletions.ts'
import type { DeletionParts } from './query/deletions/deletion-pass.ts'
import type { Models } from './evaluate/models/model.ts'
import { localModelsAt } from './evaluate/models/local-models.ts'
import type { LocalModels } from './evaluate/models/local-models.ts'
import { modelsOver } from './evaluate/models/models.ts'
import type { ModelsOptions } from './evaluate/models/models.ts'
import { modelQuotaOver } from './evaluate/models/model-quota.ts'
import type { ModelQuota, ModelQuotaLimits } from './evaluate/models/model-quota.ts'
import { pricesOver } from './ingest/pricing/prices.ts'
import type { Prices } from './ingest/pricing/prices.ts'
import { playgroundSettingsOver } from './evaluate/models/playground-settings.ts'
import type { PlaygroundSettings } from './evaluate/models/playground-settings.ts'
import { tracedModels } from './evaluate/models/traced-models.ts'
import type { TracedModels } from './evaluate/models/traced-models.ts'
import { promptsOver } from './evaluate/prompts/catalog-prompts.ts'
import type { Prompts } from './evaluate/prompts/prompt.ts'
import { commentsOver } from './evaluate/prompts/comment.ts'
import type { Comments } from './evaluate/prompts/comment.ts'
import type { RemovalListener } from './spans/span-port.ts'
import type { Calls } from './calls/calls.ts'
import type { IngestHandlers, IngestNeeds, QueryHandlers } from './threads/platform-calls.ts'
import type { QueryNeeds } from './query/own/own-run-calls.ts'
import { PlatformThread } from './threads/platform-thread.ts'
import type { SpanStorePlace } from './threads/thread-start.ts'

/** The open platform of a member. It belongs to the server, which closes it. */
export interface Platform {
  readonly projects: Projects
  readonly feedbackConfigs: FeedbackConfigs
  readonly charts: Charts
  readonly views: Views
  readonly prompts: Prompts
  readonly comments: Comments
  /** Store of all that is too long or too many for records of catalogs. */
  readonly documents: DocumentPort
  readonly shares: Shares
  readonly queues: Queues
  /** Removal of records whose data is stored elsewhere. */
  readonly removals: Pick<PendingRemovals, 'remove'>
  readonly secrets: Secrets
  readonly models: Models
  readonly localModels: LocalModels
  /** Models whose calls leave spans behind. */
  readonly tracedModels: TracedModels
  /** Use of the quota of models by each tenant. */
  readonly modelQuota: Pick<ModelQuota, 'useOf' | 'stats'>
  readonly playgroundSettings: PlaygroundSettings
  readonly prices: Prices
  readonly datasets: Datasets
  readonly comparisons: Comparisons
  /** Links to attachments. */
  readonly downloads: Downloads
  /** Calls to the thread that writes. */
  readonly ingest: Calls<Omit<IngestHandlers, 'close'>>
  /** Calls to the thread that reads. */
  readonly query: Calls<Omit<QueryHandlers, 'close'>>
  /** Rules; missing if the server offers none. */
  readonly rules?: Rules
  /** Records and calls that the actors of rules work with. */
  readonly ruleEngine?: RuleEngine
  /** Experiments that go on by themselves; missing if the server offers none. */
  readonly experiments?: Experiments
  /** Records and calls that the actors of experiments work with. */
  readonly experimentEngine?: ExperimentEngine
  /** Deletions of traces by questions; missing if the server offers none. */
  readonly deletions?: Deletions
  /** Store and queries that the actors of deletions work with. */
  readonly deletionEngine?: DeletionParts
  close(): Promise<void>
}

/** Ports and settings of a platform. */
export interface PlatformOptions {
  readonly store: SpanStorePlace
  readonly catalogs: CatalogClient
  /** Tenants by the name under which they show prompts to others; by default, none does. */
  readonly handles?: ReadonlyMap<string, string>
  /** Awaited before each question: a reader finds all that was handed over before. */
  readonly settled?: () => Promise<void> | undefined
  /** The threads of this server, whose runs are traces; by default, none are. */
  readonly own?: QueryNeeds
  /** Is called with what the store removes by itself; by default, nothing is. */
  readonly onRemoval?: RemovalListener
  /** Client and actions of rules; without them there are no rules. */
  readonly rules?: RuleOptions
  /** Client and assistants of experiments; without them none goes on by itself. */
  readonly experiments?: ExperimentOptions
  /** Wakes deletions of traces by questions; without it there are none. */
  readonly deletions?: DeletionClient
  /** Calls and tokens that a tenant may have of models on a day; unlimited by default. */
  readonly modelQuota?: ModelQuotaLimits
  /** Way out by which models are called. */
  readonly egress: ModelsOptions['egress']
  /** Origins of programs on this machine that are asked for their models; by default, none are. */
  readonly localModels?: readonly string[]
  /** The keys of secrets. Without them none can be stored. */
  readonly secretsKeys?: SecretsKeys
  readonly env: Env
}

const noModelQuota: ModelQuotaLimits = { calls: Infinity, tokens: Infinity }

/** The threads of a platform. Each starts when it is first asked for, and after it has died. */
function openThreads({ store, env: { log }, settled, own }: PlatformOptions, needs: IngestNeeds) {
  const { prices } = needs
  const ingest = new PlatformThread<IngestHandlers>({ name: 'ingest', store, needs: { ...needs },
    log })
  const query = new PlatformThread<QueryHandlers>({ name: 'query', store, log,
    ...settled && { settled }, ...own && { needs: { ...own, prices } } })
  return {
    get ingest() {
      return ingest.calls
    },
    get query() {
      return query.calls
    },
    close: async () => {
      await Promise.all([ingest.close(), query.close()])
    },
  }
}

interface IngestSources {
  readonly projects: Pick<Projects, 'named' | 'get' | 'filed'>
  readonly catalog: Pick<DatasetCatalog, 'get' | 'charge' | 'publish'>
  readonly prices: Pick<Prices, 'list'>
}

/** Calls of the main thread that the ingest thread needs. */
function ingestNeeds({ catalogs, env, rules, onRemoval }: PlatformOptions,
  { projects, catalog, prices }: IngestSources): IngestNeeds {
  const readersOf = rules && ruleRecords(catalogs, env).readersOf
  const withReaders = async <Own extends Project>(tenant: string, found: readonly Own[]) => {
    const readers = await readersOf?.(tenant, found)
    if (readers === undefined || readers.size === 0) return found
    return found.map((project) => {
      const own = readers.get(project.id)
      return own === undefined ? project : { ...project, readers: own }
    })
  }
  return {
    datasets: ({ tenant, ids }) => catalog.get(tenant, ids),
    chargeDataset: ({ tenant, id, bytes }) => catalog.charge(tenant, id, bytes),
    publishDataset: (publication) => catalog.publish(publication),
    projects: async ({ tenant, names, ids, startsMs }) => {
      const [named, found] = await Promise.all([projects.named(tenant, names, startsMs),
        ids.length === 0 ? [] : projects.get(tenant, ids, true)])
      return withReaders(tenant, [...named, ...found])
    },
    ownProjects: async ({ tenant, runs }) => {
      const filed = await projects.filed(tenant, runs, true)
      const found = filed.flatMap(({ project }) => project ?? [])
      const known = new Map((await withReaders(tenant, found)).map((each) => [each.id, each]))
      return filed.map(({ project }) => project && known.get(project.id) || null)
    },
    prices: ({ tenant }) => prices.list(tenant),
    removed: async (removed) => onRemoval?.(removed),
    ended: ({ tenant, rules: ids }) => {
      for (const id of ids) rules?.client.wake({ tenant, id })
      return Promise.resolve()
    },
  }
}

interface RemovalSources {
  readonly projects: Projects
  readonly catalog: DatasetCatalog
  readonly threads: ReturnType<typeof openThreads>
  readonly documents: DocumentPort
}

/** Removals of projects, datasets and queues, each with its data. */
function removalsOf({ catalogs, env }: PlatformOptions,
  { projects, catalog, threads, documents }: RemovalSources): PendingRemovals {
  const queues = (tenant: string) => ({ tenant, collection: 'queue' }) as const
  return new PendingRemovals({ catalogs, env, kinds: {
    dataset: {
      exists: async (tenant, id) => (await catalog.get(tenant, [id])).length > 0,
      delete: catalog.delete,
      erase: (tenant, dataset) => threads.ingest.dropExamples({ tenant, dataset }),
    },
    project: {
      exists: async (tenant, id) => (await projects.get(tenant, [id])).length > 0,
      delete: projects.delete,
      erase: (tenant, project) =>
        threads.ingest.remove({ tenant, what: { kind: 'project', project } }),
    },
    queue: {
      exists: async (tenant, id) => (await catalogs.get(queues(tenant), [id])).length > 0,
      delete: (tenant, id) => catalogs.delete(queues(tenant), id),
      erase: (tenant, id) => documents.dropDocuments(itemsPlace(tenant, id)),
    },
  } })
}

interface ExperimentSources
  extends
    Pick<EngineParts,
      'projects' | 'datasets' | 'models' | 'tracedModels' | 'quota' | 'prompts'
        | 'playgroundSettings'> {
  readonly port: Omit<EngineParts['port'], 'egress'>
  readonly threads: ReturnType<typeof openThreads>
}

/** Experiments and their engine; neither, where the server carries none out. */
function experimentsOf({ experiments, rules, catalogs, env }: PlatformOptions,
  { port, threads, ...parts }: ExperimentSources
): Pick<Platform, 'experiments' | 'experimentEngine'> {
  if (experiments === undefined || rules === undefined) return {}
  const made = experimentEngine({ ...parts, ...experiments, port: { ...port, ...rules.port },
    catalogs, env, ingest: () => threads.ingest, query: () => threads.query })
  return { experiments: made.experiments, experimentEngine: made.engine }
}

/** Projects that are found after `settled`, because the first run of a graph makes its project. */
function findingSettled(projects: Projects, settled: PlatformOptions['settled']): Projects {
  return {
    ...projects,
    find: async (tenant, query) => {
      await settled?.()
      return projects.find(tenant, query)
    },
  }
}

/** Makes the platform of a member. Its threads start when they are first needed. */
export function openPlatform(options: PlatformOptions): Platform {
  const { catalogs, env, settled, egress, secretsKeys, handles = new Map(),
    modelQuota = noModelQuota, rules: ruleOptions, deletions: waker } = options
  const inCatalogs = projectsOver(catalogs, env)
  const catalog = datasetsIn(catalogs, env)
  const prices = pricesOver(catalogs, env)
  const threads = openThreads(options,
    ingestNeeds(options, { projects: inCatalogs, catalog, prices }))
  const projects = withSpanLives(inCatalogs, { ingest: () => threads.ingest,
    isBeingRemoved: (tenant, id) => removals.has('project', tenant, id) })
  const secrets = secretsOver(catalogs, secretsKeys, env)
  const models = modelsOver({ egress, reveal: (tenant, name) => secrets.reveal(tenant, name) })
  const quota = modelQuotaOver(catalogs, modelQuota, env)
  const documents = documentsOver(threads)
  const removals = removalsOf(options, { projects, catalog, threads, documents })
  const prompts = promptsOver({ catalogs, documents, handles, env })
  const downloads = downloadsOver(catalogs, env)
  const datasets = datasetsOver({ catalog, threads, documents, downloads, removals, env })
  const queues = queuesOver({ catalogs, documents, removals, env, query: () => threads.query })
  const playgroundSettings = playgroundSettingsOver(catalogs, env)
  const port = platformPort({ models, playgroundSettings, prompts, datasets, queues })
  const ruled = ruleOptions &&
    ruleEngine({ ...ruleOptions, port: { ...port, ...ruleOptions.port }, catalogs, documents,
      projects, env, ingest: () => threads.ingest, query: () => threads.query })
  const asked = tracedModels({ models, ingest: () => threads.ingest, quota, env })
  const experimenting = experimentsOf(options, { port, projects, datasets, models,
    tracedModels: asked, quota, prompts, playgroundSettings, threads })
  const deleting = waker &&
    createDeletions({ catalogs, client: waker, projects, env, settled: () => settled?.(),
      ingest: () => threads.ingest, query: () => threads.query })
  return {
    ...deleting && { deletions: deleting.deletions, deletionEngine: deleting.engine },
    ...experimenting,
    ...ruled && { rules: ruled.rules, ruleEngine: ruled.engine },
    datasets,
    comparisons: comparisonsOver(catalogs, env),
    downloads,
    projects: findingSettled(projects, settled),
    feedbackConfigs: feedbackConfigsOver(catalogs, env),
    charts: chartsOver(catalogs, env),
    views: viewsOver(catalogs, env),
    shares: sharesOver(catalogs, documents, env),
    queues,
    removals,
    secrets,
    models,
    localModels: localModelsAt(options.localModels ?? [], egress),
    tracedModels: asked,
    modelQuota: quota,
    playgroundSettings,
    prices,
    documents,
    prompts,
    comments: commentsOver(catalogs, env),
    get ingest() {
      return threads.ingest
    },
    get query() {
      return threads.query
    },
    close: async () => {
      removals.close()
      await Promise.all([prompts.close(), quota.close()])
      await threads.close()
    },
  }
}
