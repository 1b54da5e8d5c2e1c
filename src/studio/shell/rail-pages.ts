/** The pages of the rail, and which of them a server has. */

import { deploymentName } from '../api/place.ts'
import type { Feature, ServerInfo } from '../api/server.ts'
import type { IconName } from '../parts/icon.tsx'

/** One page of the rail; with a feature it is there only where the server has that. */
export interface RailPage {
  readonly to:
    | '/threads'
    | '/inbox'
    | '/assistants'
    | '/runs'
    | '/crons'
    | '/store'
    | '/traces'
    | '/datasets'
    | '/prompts'
    | '/playground'
    | '/rules'
    | '/queues'
    | '/charts'
    | '/prices'
    | '/deployments'
    | '/cluster'
    | '/limits'
  readonly label: string
  readonly icon: IconName
  readonly feature?: Feature
}

/** Pages that belong together, under a title. */
export interface RailGroup {
  readonly title?: string
  readonly pages: readonly RailPage[]
}

const groups: readonly RailGroup[] = [
  { pages: [
    { to: '/threads', label: 'Threads', icon: 'threads' },
    { to: '/inbox', label: 'Inbox', icon: 'inbox' },
    { to: '/assistants', label: 'Assistants', icon: 'assistants' },
    { to: '/runs', label: 'Runs', icon: 'runs' },
    { to: '/crons', label: 'Crons', icon: 'clock', feature: 'crons' },
    { to: '/store', label: 'Store', icon: 'store', feature: 'store' },
  ] },
  { title: 'Platform', pages: [
    { to: '/traces', label: 'Traces', icon: 'traces', feature: 'traces' },
    { to: '/datasets', label: 'Datasets', icon: 'datasets', feature: 'traces' },
    { to: '/prompts', label: 'Prompts', icon: 'edit', feature: 'traces' },
    { to: '/playground', label: 'Playground', icon: 'play', feature: 'traces' },
    { to: '/rules', label: 'Rules', icon: 'filter', feature: 'traces' },
    { to: '/queues', label: 'Annotation queues', icon: 'queues', feature: 'traces' },
    { to: '/charts', label: 'Charts', icon: 'chart', feature: 'traces' },
    { to: '/prices', label: 'Prices', icon: 'price', feature: 'traces' },
  ] },
  { title: 'Server', pages: [
    { to: '/deployments', label: 'Deployments', icon: 'deployments', feature: 'deployments' },
    { to: '/cluster', label: 'Cluster', icon: 'cluster' },
    { to: '/limits', label: 'Limits & keys', icon: 'gauge' },
  ] },
]

/** The pages of a server. */
export const pagesOf = (info: ServerInfo | undefined): readonly RailPage[] =>
  groupsOf(info).flatMap(({ pages }) => pages)

/** The pages of a server by their titles; groups without pages are left out. */
export function groupsOf(info: ServerInfo | undefined): readonly RailGroup[] {
  return groups.map((group) => ({ ...group,
    pages: group.pages.filter(({ feature }) =>
      feature === undefined || hasFeature(info, feature)
    ) })
  ).filter(({ pages }) => pages.length > 0)
}

/** A feature that a server does not name may be there, except for deployments. */
export const hasFeature = (info: ServerInfo | undefined, feature: Feature): boolean =>
  feature === 'deployments'
    ? deploymentName !== null || info?.features?.deployments === true
    : info?.features?.[feature] !== false

/** The pages that a phone shows beside the button for all others, most urgent first. */
const phonePages = ['/inbox', '/threads', '/assistants', '/runs', '/traces', '/cluster'] as const

/** Five pages of a server that a phone shows, and the groups of the rest. */
export function phonePagesOf(info: ServerInfo | undefined): {
  readonly first: readonly RailPage[]
  readonly rest: readonly RailGroup[]
} {
  const pages = pagesOf(info)
  const first = phonePages.flatMap((to) => pages.find((page) => page.to === to) ?? []).slice(0, 5)
  const rest = groupsOf(info).map((group) => ({ ...group,
    pages: group.pages.filter((page) => !first.includes(page)) })
  ).filter(({ pages: left }) => left.length > 0)
  return { first, rest }
}
