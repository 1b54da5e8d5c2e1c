/** The rail: the pages at the left (at the bottom of a phone), and the state of the connection. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'

import { deploymentName } from '../api/place.ts'
import { pollEvery } from '../api/poll.ts'
import { serverInfo } from '../api/server.ts'
import type { Feature, ServerInfo } from '../api/server.ts'
import { countThreads } from '../api/threads.ts'
import { Button } from '../parts/button.tsx'
import { Icon, Mark } from '../parts/icon.tsx'
import type { IconName } from '../parts/icon.tsx'
import { useIsLost } from './connection.ts'
import { DeploymentSwitch } from './deployment-switch.tsx'
import css from './rail.module.css'
import { chooseTheme, useTheme } from './theme.ts'

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
  /** The label where there is little room. */
  readonly short?: string
  readonly icon: IconName
  readonly feature?: Feature
}

/** Pages that belong together, under a title. */
interface RailGroup {
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
    { to: '/queues', label: 'Annotation queues', short: 'Queues', icon: 'queues',
      feature: 'traces' },
    { to: '/charts', label: 'Charts', icon: 'chart', feature: 'traces' },
    { to: '/prices', label: 'Prices', icon: 'price', feature: 'traces' },
  ] },
  { title: 'Server', pages: [
    { to: '/deployments', label: 'Deployments', short: 'Deploy', icon: 'deployments',
      feature: 'deployments' },
    { to: '/cluster', label: 'Cluster', icon: 'cluster' },
    { to: '/limits', label: 'Limits & keys', short: 'Limits', icon: 'gauge' },
  ] },
]

/** The pages of a server. */
export const pagesOf = (info: ServerInfo | undefined): readonly RailPage[] =>
  groupsOf(info).flatMap(({ pages }) => pages)

function groupsOf(info: ServerInfo | undefined): readonly RailGroup[] {
  return groups.map((group) => ({ ...group,
    pages: group.pages.filter(({ feature }) =>
      feature === undefined || hasFeature(info, feature)
    ) })
  ).filter(({ pages }) => pages.length > 0)
}

/** A feature that a server does not name may be there, except for deployments. */
const hasFeature = (info: ServerInfo | undefined, feature: Feature): boolean =>
  feature === 'deployments'
    ? deploymentName !== null || info?.features?.deployments === true
    : info?.features?.[feature] !== false

/**
 * Rail with the pages, at the left or at the bottom of a phone, and the state of the connection.
 */
export function Rail() {
  const { data: info } = useQuery(serverInfo)
  const isLost = useIsLost()
  const { data: waiting } = useQuery({
    queryKey: ['threads', 'count', 'interrupted'],
    queryFn: ({ signal }) => countThreads({ status: 'interrupted' }, signal),
    refetchInterval: pollEvery(15_000),
  })
  return (
    <nav className={`${css['rail']} ${isLost ? css['lost'] : ''}`} aria-label="Studio">
      <Link to="/threads" className={css['brand']} search={{}}>
        <Mark />
        <span>Heddle</span>
      </Link>
      {hasFeature(info, 'deployments') && <DeploymentSwitch />}
      <div className={css['pages']}>
        {groupsOf(info).map(({ title, pages }) => (
          <div key={title ?? 'agents'} className={css['group']}>
            {title !== undefined && <p id={`rail-${title}`}>{title}</p>}
            <ul aria-labelledby={title && `rail-${title}`}>
              {pages.map((page) => (
                <li key={page.to}>
                  <PageLink page={page} waiting={page.to === '/inbox' ? waiting : undefined} />
                </li>
              ))}
            </ul>
          </div>
        ))}
      </div>
      <div className={css['foot']}>
        <span className={isLost ? css['away'] : css['here']} />
        <span role="status">{isLost ? lostWords : placeWords(info)}</span>
        <ThemeButton />
      </div>
    </nav>
  )
}

function PageLink({ page: { to, label, short, icon }, waiting = 0 }: {
  readonly page: RailPage
  readonly waiting?: number | undefined
}) {
  return (
    <Link to={to} search={{}} aria-label={short && label} activeProps={{ 'aria-current': 'page' }}>
      <Icon name={icon} />
      <span className={short && css['long']}>{label}</span>
      {short && <span className={css['short']}>{short}</span>}
      {waiting > 0 && <b aria-label={`${waiting} waiting`}>{waiting > 999 ? '999+' : waiting}</b>}
    </Link>
  )
}

const lostWords = 'Connection lost: what you see may be old'

const placeWords = (info: ServerInfo | undefined): string =>
  info === undefined ? 'Connecting' : `${info.region?.name ?? 'local'} · ${info.version}`

function ThemeButton() {
  const other = useTheme() === 'dark' ? 'light' : 'dark'
  return (
    <Button kind="quiet" small className={css['theme']} label={`Switch to ${other} colours`}
      icon={<Icon name={other === 'light' ? 'sun' : 'moon'} />}
      onClick={() => chooseTheme(other)} />
  )
}
