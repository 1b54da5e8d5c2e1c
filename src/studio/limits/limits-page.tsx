/** Limits and keys. */

import { PageHead } from '../parts/page-head.tsx'

/** The page. */
export function LimitsPage() {
  return <PageHead title="Limits and keys" />
}
