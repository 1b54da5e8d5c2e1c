/** Origin of an example: its files, and the span that it was made of. */

import { Link } from '@tanstack/react-router'

import type { Example } from '../../api/index.ts'
import { apiUrl } from '../api/place.ts'
import { unknownProject } from '../parts/trace-link.tsx'
import css from './datasets.module.css'

/** The files of an example, and a link to the span that it was made of. */
export function ExampleOrigin({ example: { source_run_id: run, attachment_urls: files } }: {
  readonly example: Example
}) {
  const all = Object.entries(files ?? {})
  return (
    <>
      {all.length > 0 && (
        <section>
          <h3>Attachments</h3>
          <ul className={css['files']}>
            {all.map(([name, { presigned_url: url, mime_type: type }]) => (
              <li key={name}>
                <a href={addressOf(url)} target="_blank" rel="noreferrer" dir="auto">
                  {name.replace(/^attachment\./, '')}
                </a>{' '}
                <span className={css['quiet']}>{type}</span>
                {type?.startsWith('image/') && <Picture address={addressOf(url)} />}
              </li>
            ))}
          </ul>
        </section>
      )}
      {run !== null && (
        <p>
          Made of a span:{' '}
          <Link to="/traces/$project/$trace" params={{ project: unknownProject, trace: run }}
            search={{}}
          >
            {run.slice(0, 8)}
          </Link>
        </p>
      )}
    </>
  )
}

const addressOf = (url: string): string => apiUrl + url.replace(/^.*?(?=\/public\/download\?)/, '')

/** A picture of this server. Others are links: fetching them would tell that they are read. */
function Picture({ address }: { readonly address: string }) {
  return URL.parse(address)?.origin === location.origin
    ? <img src={address} alt="" loading="lazy" />
    : null
}
