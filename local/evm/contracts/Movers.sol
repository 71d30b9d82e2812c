// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.30;

/// Forwards payments, as exchanges and multi-signature wallets do: no log reports them.
contract Splitter {
    receive() external payable {}

    /// Pays half to each.
    function split(address payable one, address payable two) external payable {
        pay(one, msg.value / 2);
        pay(two, msg.value / 2);
    }

    /// Pays inside a call that then fails: the payment is reverted, and the transaction succeeds.
    function fail(address payable to) external payable {
        try this.payAndRevert(to, msg.value) {} catch {}
    }

    function payAndRevert(address payable to, uint256 value) external {
        pay(to, value);
        revert("not after all");
    }

    /// Pays through a delegatecall: the delegatecall itself moves nothing.
    function borrow(address payable to) external payable {
        (bool ok, ) = address(this).delegatecall(abi.encodeCall(this.payFromHere, (to, msg.value)));
        require(ok);
    }

    function payFromHere(address payable to, uint256 value) external payable {
        pay(to, value);
    }

    /// Creates a child that pays out its whole balance when it ends.
    function leave(address payable to) external payable {
        new Testator{value: msg.value}(to);
    }

    function pay(address payable to, uint256 value) private {
        (bool ok, ) = to.call{value: value}("");
        require(ok);
    }
}

contract Testator {
    constructor(address payable to) payable {
        selfdestruct(to);
    }
}

/// Emits the events of ERC-721 and ERC-1155 transfers, and events that only resemble them.
contract Collection {
    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);
    event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value);
    event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values);
    event Sent(address indexed from, address indexed to, uint256 value);

    mapping(uint256 => address) public getApproved;

    function balanceOf(address) external pure returns (uint256) {
        return 1;
    }

    /// The call of an ERC-20 allowance, with an id in place of the amount.
    function approve(address to, uint256 id) external {
        getApproved[id] = to;
    }

    function mint(address to, uint256 id) external {
        emit Transfer(address(0), to, id);
    }

    function burn(address from, uint256 id) external {
        emit Transfer(from, address(0), id);
    }

    function single(address to, uint256 id, uint256 value) external {
        emit TransferSingle(msg.sender, msg.sender, to, id, value);
    }

    function batch(address to, uint256[] calldata ids, uint256[] calldata values) external {
        emit TransferBatch(msg.sender, msg.sender, to, ids, values);
    }

    function noise(address to) external {
        emit Sent(msg.sender, to, 5);
    }
}

interface IMint {
    function mint(address to, uint256 units) external;
}

/// Makes many calls with long inputs before it pays, so that its call trace has megabytes.
contract BusyPayer {
    fallback() external payable {}

    function run(uint256 calls, uint256 size, address payable to, IMint token, uint256 units) external payable {
        bytes memory input = new bytes(size);
        for (uint256 i = 0; i < calls; i++) {
            (bool called, ) = address(this).call(input);
            require(called);
        }
        token.mint(to, units);
        (bool paid, ) = to.call{value: msg.value}("");
        require(paid);
    }
}
