/** Region in which the cluster is deployed: its name and the addresses of its calls. */

import type { ClusterRegion } from '../api/cluster.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import css from './cluster.module.css'

/** The region of this server. */
export function RegionFacts(
  { region: { name, api_url: url, ingress = [], egress = [] } }: { readonly region: ClusterRegion },
) {
  return (
    <div className={css['region']}>
      <h2 className={css['title']}>Region {name}</h2>
      <dl>
        {url !== undefined && <Fact name="API">{url}</Fact>}
        <Fact name="Calls come in at">{ingress.join(', ') || 'not published'}</Fact>
        <Fact name="Calls go out from">{egress.join(', ') || 'not published'}</Fact>
      </dl>
    </div>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <code>{children}</code>
        <CopyButton text={children} label={`Copy: ${name}`} />
      </dd>
    </div>
  )
}
