/** Cluster. */

import { PageHead } from '../parts/page-head.tsx'

/** The page. */
export function ClusterPage() {
  return <PageHead title="Cluster" />
}
