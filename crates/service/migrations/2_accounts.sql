CREATE TABLE account (
    name TEXT PRIMARY KEY,
    token TEXT NOT NULL UNIQUE,
    created TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- One row once there was an account: from then on nobody comes in without one, also when the last has
-- been removed.
CREATE TABLE account_begun (
    begun BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (begun)
);
