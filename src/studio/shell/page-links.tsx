/** Links to the pages, one by one and in their groups. */

import { Link } from '@tanstack/react-router'

import { Icon } from '../parts/icon.tsx'
import css from './rail.module.css'
import type { RailGroup, RailPage } from './rail-pages.ts'

/** Groups of links under their titles; `waiting` is the number that the inbox bears. */
export function PageGroups({ groups, waiting }: {
  readonly groups: readonly RailGroup[]
  readonly waiting?: number | undefined
}) {
  return (
    <div className={css['pages']}>
      {groups.map(({ title, pages }) => (
        <div key={title ?? 'agents'} className={css['group']}>
          {title !== undefined && <p id={`rail-${title}`}>{title}</p>}
          <ul aria-labelledby={title && `rail-${title}`}>
            {pages.map((page) => (
              <li key={page.to}>
                <PageLink page={page} waiting={waiting} />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </div>
  )
}

/** Link to a page. */
export function PageLink({ page: { to, label, icon }, waiting = 0 }: {
  readonly page: RailPage
  readonly waiting?: number | undefined
}) {
  return (
    <Link to={to} search={{}} activeProps={{ 'aria-current': 'page' }}>
      <Icon name={icon} />
      <span>{label}</span>
      {to === '/inbox' && waiting > 0 && (
        <b aria-label={`${waiting} waiting`}>{waiting > 999 ? '999+' : waiting}</b>
      )}
    </Link>
  )
}
