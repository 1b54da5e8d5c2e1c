/** Assistants. */

import { PageHead } from '../parts/page-head.tsx'

/** The page. */
export function AssistantList() {
  return <PageHead title="Assistants" />
}
