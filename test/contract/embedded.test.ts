/** The embedded store keeps every promise of the ports. */

import { describeAssistantIndex } from './assistant-index-contract.ts'
import { describeBillingTable } from './billing-table-contract.ts'
import { describeCronIndex } from './cron-index-contract.ts'
import { embeddedPlace } from './embedded-place.ts'
import { describeItemIndex } from './item-index-contract.ts'
import { describeKeyTable } from './key-table-contract.ts'
import { describeLimitTable } from './limit-table-contract.ts'
import { describeLog } from './log-contract.ts'
import { describeLogModel } from './log-model-contract.ts'
import { describePurge } from './purge-contract.ts'
import { describeRunTable } from './run-table-contract.ts'
import { sharePlace } from './store-place.ts'
import { describeTenantUse } from './tenant-use-contract.ts'
import { describeThreadIndex } from './thread-index-contract.ts'

const shared = sharePlace(embeddedPlace)
describeLog('embedded', shared)
describeLogModel('embedded', shared)
describePurge('embedded', embeddedPlace)
describeThreadIndex('embedded', shared)
describeTenantUse('embedded', embeddedPlace)
describeRunTable('embedded', shared)
describeKeyTable('embedded', shared)
describeLimitTable('embedded', shared)
describeBillingTable('embedded', shared)
describeAssistantIndex('embedded', shared)
describeCronIndex('embedded', embeddedPlace)
describeItemIndex('embedded', shared)
