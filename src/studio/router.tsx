/** Every page and its address. Pages are loaded when they are needed. */

import { createRootRoute, createRoute, createRouter, lazyRouteComponent,
  redirect } from '@tanstack/react-router'

import { studioUrl } from './api/place.ts'
import { readAssistantListSearch } from './addresses/assistants.ts'
import { readChartsSearch } from './addresses/charts.ts'
import { readClusterSearch } from './addresses/cluster.ts'
import { readCronListSearch } from './addresses/crons.ts'
import { readDatasetListSearch, readDatasetSearch } from './addresses/datasets.ts'
import { readDeploymentSearch, readReplaySearch } from './addresses/deployments.ts'
import { readLimitsSearch } from './addresses/limits.ts'
import { readRuleListSearch, readRuleSearch } from './addresses/rules.ts'
import { readQueueListSearch, readQueueSearch } from './addresses/queues.ts'
import { readPlaygroundSearch } from './addresses/playground.ts'
import { readPricesSearch } from './addresses/prices.ts'
import { readPromptListSearch, readPromptSearch } from './addresses/prompts.ts'
import { readRunListSearch } from './addresses/runs.ts'
import { readStoreSearch } from './addresses/store.ts'
import { NotFound, PageFailed } from './shell/lost.tsx'
import { Shell } from './shell/shell.tsx'
import { readThreadSearch } from './addresses/thread.ts'
import { readThreadListSearch } from './addresses/threads.ts'
import { readProjectListSearch, readProjectSearch, readTraceSearch } from './addresses/traces.ts'

const root = createRootRoute({ component: Shell })

const routes = [
  createRoute({
    getParentRoute: () => root,
    path: '/',
    beforeLoad: () => {
      throw redirect({ to: '/threads', search: {}, replace: true })
    },
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/threads',
    validateSearch: readThreadListSearch,
    component: lazyRouteComponent(() => import('./threads/thread-list.tsx'), 'ThreadList'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/inbox',
    validateSearch: readThreadListSearch,
    component: lazyRouteComponent(() => import('./threads/inbox.tsx'), 'Inbox'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/threads/$id',
    validateSearch: readThreadSearch,
    component: lazyRouteComponent(() => import('./thread/thread-page.tsx'), 'ThreadPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/runs',
    validateSearch: readRunListSearch,
    component: lazyRouteComponent(() => import('./runs/run-list.tsx'), 'RunList'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/crons',
    validateSearch: readCronListSearch,
    component: lazyRouteComponent(() => import('./crons/cron-list.tsx'), 'CronList'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/store',
    validateSearch: readStoreSearch,
    component: lazyRouteComponent(() => import('./store/store-page.tsx'), 'StorePage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/assistants',
    validateSearch: readAssistantListSearch,
    component: lazyRouteComponent(() => import('./assistants/assistant-list.tsx'), 'AssistantList'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/deployments',
    component: lazyRouteComponent(() => import('./deployments/deployment-list.tsx'),
      'DeploymentList'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/deployments/$name',
    validateSearch: readDeploymentSearch,
    component: lazyRouteComponent(() => import('./deployments/deployment-page.tsx'),
      'DeploymentPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/deployments/$name/replays/$id',
    validateSearch: readReplaySearch,
    component: lazyRouteComponent(() => import('./deployments/replays/replay-page.tsx'),
      'ReplayPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/cluster',
    validateSearch: readClusterSearch,
    component: lazyRouteComponent(() => import('./cluster/cluster-page.tsx'), 'ClusterPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/limits',
    validateSearch: readLimitsSearch,
    component: lazyRouteComponent(() => import('./limits/limits-page.tsx'), 'LimitsPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/prices',
    validateSearch: readPricesSearch,
    component: lazyRouteComponent(() => import('./prices/prices-page.tsx'), 'PricesPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/traces',
    validateSearch: readProjectListSearch,
    component: lazyRouteComponent(() => import('./traces/project-list.tsx'), 'ProjectList'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/traces/$project',
    validateSearch: readProjectSearch,
    component: lazyRouteComponent(() => import('./traces/project-page.tsx'), 'ProjectPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/traces/$project/$trace',
    validateSearch: readTraceSearch,
    component: lazyRouteComponent(() => import('./traces/trace-page.tsx'), 'TracePage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/rules',
    validateSearch: readRuleListSearch,
    component: lazyRouteComponent(() => import('./rules/rule-list.tsx'), 'RuleList'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/rules/$id',
    validateSearch: readRuleSearch,
    component: lazyRouteComponent(() => import('./rules/rule-page.tsx'), 'RulePage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/public/$token',
    validateSearch: readTraceSearch,
    component: lazyRouteComponent(() => import('./traces/shared-trace.tsx'), 'SharedTrace'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/public/$token/d',
    component: lazyRouteComponent(() => import('./datasets/shared-dataset.tsx'), 'SharedDataset'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/queues',
    validateSearch: readQueueListSearch,
    component: lazyRouteComponent(() => import('./queues/queue-list.tsx'), 'QueueList'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/queues/$id',
    validateSearch: readQueueSearch,
    component: lazyRouteComponent(() => import('./queues/queue-page.tsx'), 'QueuePage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/charts',
    validateSearch: readChartsSearch,
    component: lazyRouteComponent(() => import('./charts/charts-page.tsx'), 'ChartsPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/datasets',
    validateSearch: readDatasetListSearch,
    component: lazyRouteComponent(() => import('./datasets/dataset-list.tsx'), 'DatasetList'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/datasets/$id',
    validateSearch: readDatasetSearch,
    component: lazyRouteComponent(() => import('./datasets/dataset-page.tsx'), 'DatasetPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/prompts',
    validateSearch: readPromptListSearch,
    component: lazyRouteComponent(() => import('./prompts/prompt-list.tsx'), 'PromptList'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/prompts/$name',
    validateSearch: readPromptSearch,
    component: lazyRouteComponent(() => import('./prompts/prompt-page.tsx'), 'PromptPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/playground',
    validateSearch: readPlaygroundSearch,
    component: lazyRouteComponent(() => import('./playground/playground.tsx'), 'Playground'),
  }),
] as const

/** The router. Its addresses follow the folder of the page, wherever a proxy put it. */
export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: studioUrl.pathname.replace(/\/$/, ''),
  defaultPreload: 'intent',
  defaultNotFoundComponent: NotFound,
  defaultErrorComponent: PageFailed,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
