/** Every page and its address. Pages are loaded when they are needed. */

import { createRootRoute, createRoute, createRouter, lazyRouteComponent,
  redirect } from '@tanstack/react-router'

import { studioUrl } from './api/place.ts'
import { readAssistantListSearch } from './assistants/address.ts'
import { readClusterSearch } from './cluster/address.ts'
import { readLimitsSearch } from './limits/address.ts'
import { readRunListSearch } from './runs/address.ts'
import { NotFound, PageFailed } from './shell/lost.tsx'
import { Shell } from './shell/shell.tsx'
import { readThreadSearch } from './thread/address.ts'
import { readThreadListSearch } from './threads/address.ts'
import { readProjectListSearch, readProjectSearch, readTraceSearch } from './traces/address.ts'

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
    path: '/assistants',
    validateSearch: readAssistantListSearch,
    component: lazyRouteComponent(() => import('./assistants/assistant-list.tsx'), 'AssistantList'),
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
