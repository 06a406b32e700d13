/** Which sessions the list shows and how it is grouped, behind one button. */
import { Menu } from "@base-ui/react/menu";
import { visibleLine } from "../../../src/schema/visible-text.ts";
import { agents as agentList, agentName } from "../state/agents.ts";
import { prefer } from "../state/preferences.ts";
import { useStore } from "../state/store.ts";
import { Icon } from "../ui/icons.tsx";
import { type FilterName, filters } from "./filters.ts";
import type { Grouping } from "./groups.ts";

type Props = {
  filter: FilterName;
  agent: string;
  agents: readonly string[];
  node: string;
  /** Of a fleet; none where the daemon is by itself. */
  nodes: readonly string[];
  grouping: Grouping;
  onFilter(filter: FilterName): void;
  onAgent(agent: string): void;
  onNode(node: string): void;
  /** Begins to choose several; absent for who may change nothing. */
  onChooseSeveral?: (() => void) | undefined;
};

export function FilterMenu(props: Props) {
  const known = useStore(agentList);
  const { filter, agent, agents, node, nodes, grouping, onFilter, onAgent, onNode, onChooseSeveral } = props;
  return (
    <Menu.Root>
      <Menu.Trigger className="icon-button" aria-label="Filter and group" title="Filter and group">
        <Icon name="filter" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className="positioner" sideOffset={4} align="end" collisionPadding={12}>
          <Menu.Popup className="popup menu">
            <Group
              label="Show"
              value={filter}
              onChange={(value) => onFilter(value as FilterName)}
              options={filters.map(({ name, label }) => [name, label])}
            />
            <Menu.Separator className="menu-line" />
            <Group
              label="Group by"
              value={grouping}
              onChange={(value) => prefer({ grouping: value === "directory" ? "directory" : "day" })}
              options={[
                ["day", "Day"],
                ["directory", "Directory"],
              ]}
            />
            {agents.length > 1 && (
              <>
                <Menu.Separator className="menu-line" />
                <Group
                  label="Agent"
                  value={agent}
                  onChange={onAgent}
                  options={[["", "Any agent"], ...agents.map((id): [string, string] => [id, agentName(known, id)])]}
                />
              </>
            )}
            {nodes.length > 0 && (
              <>
                <Menu.Separator className="menu-line" />
                <Group
                  label="Node or label"
                  value={node}
                  onChange={onNode}
                  options={[["", "Any node"], ...nodes.map((name): [string, string] => [name, visibleLine(name)])]}
                />
              </>
            )}
            {onChooseSeveral && (
              <>
                <Menu.Separator className="menu-line" />
                <Menu.Item className="menu-item" onClick={onChooseSeveral}>
                  <Icon name="list" /> Select several
                </Menu.Item>
              </>
            )}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

type GroupProps = {
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  onChange(value: string): void;
};

const Group = ({ label, value, options, onChange }: GroupProps) => (
  <Menu.Group>
    <Menu.GroupLabel className="menu-head">{label}</Menu.GroupLabel>
    <Menu.RadioGroup value={value} onValueChange={(next) => onChange(String(next))}>
      {options.map(([option, text]) => (
        <Menu.RadioItem key={option} value={option} className="menu-item" closeOnClick>
          <span className="menu-check">
            <Menu.RadioItemIndicator>
              <Icon name="check" size={14} />
            </Menu.RadioItemIndicator>
          </span>
          {text}
        </Menu.RadioItem>
      ))}
    </Menu.RadioGroup>
  </Menu.Group>
);
